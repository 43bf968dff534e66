"""Checks exercise 7. Skipped until you begin; a wrong answer fails."""

ROWS = [(0.9, True), (0.8, True), (0.7, False), (0.6, True), (0.5, False)]


def test_the_lowest_that_will_do(ex) -> None:
    assert ex.threshold_for(ROWS, precision=1.0) == 0.8
    assert ex.threshold_for(ROWS, precision=0.75) == 0.6
    assert ex.threshold_for(ROWS, precision=0.5) == 0.5


def test_none_where_the_surest_is_wrong(ex) -> None:
    assert ex.threshold_for([(0.9, False), (0.1, False)], precision=0.5) is None
    assert ex.threshold_for([], precision=0.5) is None


def test_equals_stand_or_fall_together(ex) -> None:
    assert ex.threshold_for([(0.9, True), (0.9, False)], precision=1.0) is None
