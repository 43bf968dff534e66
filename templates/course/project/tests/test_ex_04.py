"""Checks exercise 4. Skipped until you begin; a wrong answer fails."""


def test_neighbours_are_one_span(ex) -> None:
    assert ex.doubtful_spans([0.9, 0.2, 0.1, 0.9, 0.3], below=0.5) == [(1, 3), (4, 5)]


def test_a_word_exactly_at_the_bound_is_sure_enough(ex) -> None:
    assert ex.doubtful_spans([0.5], below=0.5) == []


def test_all_or_nothing(ex) -> None:
    assert ex.doubtful_spans([0.1, 0.1], below=0.5) == [(0, 2)]
    assert ex.doubtful_spans([], below=0.5) == []
