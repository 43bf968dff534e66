from threading import Thread

from counter import Counter


def test_one_after_another():
    counter = Counter()
    counter.add()
    counter.add()
    assert counter.value == 2


def test_ten_threads_at_once():
    counter = Counter()
    threads = [Thread(target=counter.add, args=(0.01,)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value == 10


def test_a_reset_counter_is_zero():
    counter = Counter()
    counter.add()
    counter.reset()
    assert counter.value == 0
