"""Checks exercise 1. Skipped until you begin; a wrong answer fails."""

import pytest


def test_a_word_that_is_not_there_adds_nothing(ex) -> None:
    assert ex.bm25_term(count=0, length=10, average_length=10.0, idf=2.0) == 0


def test_one_word_in_a_passage_of_average_length(ex) -> None:
    assert ex.bm25_term(count=1, length=10, average_length=10.0, idf=2.2) == pytest.approx(1.0)


def test_repeats_count_less_and_less_and_never_more_than_the_idf(ex) -> None:
    terms = [ex.bm25_term(count=n, length=10, average_length=10.0, idf=1.0) for n in (1, 2, 3, 1000)]
    gains = [terms[1] - terms[0], terms[2] - terms[1]]
    assert terms == sorted(terms)
    assert gains[0] > gains[1]
    assert terms[-1] < 1.0


def test_long_passages_are_held_against(ex) -> None:
    assert ex.bm25_term(count=1, length=40, average_length=10.0, idf=1.0) == pytest.approx(1 / (1 + 1.2 * 3.25))
