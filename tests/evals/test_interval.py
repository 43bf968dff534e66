"""Intervals: the number is exact, the bounds are seeded, paired ones know that questions are the same."""

import numpy as np
import pytest
from remask.evals.interval import Interval, difference, mean, median_ratio, quantile


def test_one_question_has_an_interval_of_no_width() -> None:
    assert mean([0.7]) == Interval(value=0.7, low=0.7, high=0.7, n=1)


def test_the_interval_of_a_share_is_near_the_textbook_s() -> None:
    # Half of 400 right: 1.96 * sqrt(0.25 / 400) = 0.049.
    found = mean([0.0, 1.0] * 200)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.451, abs=0.004)
    assert found.high == pytest.approx(0.549, abs=0.004)


def test_the_same_seed_gives_the_same_interval_and_another_one_does_not() -> None:
    values = list(np.random.default_rng(0).random(50))
    assert mean(values, seed=3) == mean(values, seed=3)
    assert mean(values, seed=3) != mean(values, seed=4)


def test_a_difference_is_paired() -> None:
    ours = [0.0, 0.5, 1.0] * 20
    found = difference([value + 0.1 for value in ours], ours)
    assert found == Interval(value=0.1, low=0.1, high=0.1, n=60)
    assert found.apart
    assert not difference(ours, ours).apart


def test_a_ratio_compares_medians() -> None:
    found = median_ratio([1, 2, 3], [30, 20, 10])
    assert found.value == 10.0
    assert found.low < 10 < found.high


def test_quantiles_interpolate() -> None:
    assert quantile([0, 1, 2, 3, 4], 0.95).value == pytest.approx(3.8)


def test_no_value_has_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        mean([])
