from averages import moving_averages


def test_the_last_window_counts():
    assert moving_averages([1, 2, 3, 4], 2) == [1.5, 2.5, 3.5]


def test_one_window_over_all():
    assert moving_averages([3, 5], 2) == [4.0]


def test_a_width_of_zero_is_refused():
    try:
        moving_averages([1], 0)
    except ValueError:
        return
    raise AssertionError("no error")


def test_too_wide_a_window_has_no_mean():
    assert moving_averages([1], 3) == []
