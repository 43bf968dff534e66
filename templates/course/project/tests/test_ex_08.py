"""Checks exercise 8. Skipped until you begin; a wrong answer fails."""

import pytest


def test_equal_values_have_no_spread(ex) -> None:
    assert ex.bootstrap([0.5] * 20, seed=0) == pytest.approx((0.5, 0.5))


def test_the_interval_of_a_coin_is_about_two_standard_errors(ex) -> None:
    low, high = ex.bootstrap([0.0, 1.0] * 50, seed=0)
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.03)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.03)


def test_a_seed_says_it_all(ex) -> None:
    values = [float(n % 3 == 0) for n in range(40)]
    assert ex.bootstrap(values, seed=1) == ex.bootstrap(values, seed=1)


def test_a_question_asked_in_other_letters_has_leaked(ex) -> None:
    assert ex.leaked(["Who built  it?"], ["who built it", "When?"]) == ["who built it"]


def test_other_questions_have_not(ex) -> None:
    assert ex.leaked(["Who built it?"], ["Who built them?"]) == []
