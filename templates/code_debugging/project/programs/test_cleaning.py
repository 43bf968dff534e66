from cleaning import clipped, without_gaps


def test_one_gap_goes():
    assert without_gaps([1.0, None, 2.0]) == [1.0, 2.0]


def test_gaps_side_by_side_go():
    assert without_gaps([1.0, None, None, 2.0]) == [1.0, 2.0]


def test_large_readings_are_clipped():
    assert clipped([1.0, 9.0], 5.0) == [1.0, 5.0]
