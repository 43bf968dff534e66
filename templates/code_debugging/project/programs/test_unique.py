import time

from unique import unique


def test_the_first_of_each_stays():
    assert unique([3, 1, 3, 2, 1]) == [3, 1, 2]


def test_nothing_stays_nothing():
    assert unique([]) == []


def test_many_values_take_no_time():
    begin = time.process_time()
    assert len(unique(list(range(12_000)) * 2)) == 12_000
    assert time.process_time() - begin < 0.3
