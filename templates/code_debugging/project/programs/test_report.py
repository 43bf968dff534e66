from report import summary


def test_a_stream_is_summed_up():
    assert summary(x for x in (1.0, 2.0, 6.0)) == {"count": 3, "mean": 3.0, "largest": 6.0}


def test_a_list_is_summed_up():
    assert summary([2.0, 4.0]) == {"count": 2, "mean": 3.0, "largest": 4.0}


def test_nothing_gives_zeros():
    assert summary([]) == {"count": 0, "mean": 0.0, "largest": 0.0}
