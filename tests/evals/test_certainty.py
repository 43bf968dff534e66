"""Numbers about certainty, against hand-computed values and brute force."""

import itertools
import random

import pytest
from remask.evals.certainty import area_under_risks, auroc, calibration_error, selective_risks


def test_a_perfect_a_useless_and_an_inverted_score() -> None:
    labels = [False, False, True, True]
    assert auroc([0.1, 0.2, 0.3, 0.4], labels).value == 1.0
    assert auroc([0.5] * 4, labels).value == 0.5
    assert auroc([0.4, 0.3, 0.2, 0.1], labels).value == 0.0


def test_it_agrees_with_counting_all_pairs() -> None:
    draw = random.Random(5)
    scores = [round(draw.random(), 1) for _ in range(60)]
    labels = [draw.random() < 0.4 for _ in scores]
    high = [s for s, positive in zip(scores, labels, strict=True) if positive]
    low = [s for s, positive in zip(scores, labels, strict=True) if not positive]
    won = sum((h > one) + 0.5 * (h == one) for h, one in itertools.product(high, low))
    found = auroc(scores, labels)
    assert found.value == pytest.approx(won / (len(high) * len(low)), abs=1e-6)
    assert 0 <= found.low < found.value < found.high <= 1
    assert found == auroc(scores, labels)


def test_a_separating_score_has_an_interval_at_one_unless_a_resample_lacks_a_kind() -> None:
    labels = [n >= 30 for n in range(60)]
    assert auroc([n / 60 for n in range(60)], labels).low == 1.0


def test_risks_are_means_over_the_surest_first() -> None:
    risks = selective_risks([0.2, 0.9, 0.5], [1.0, 0.0, 0.5])
    assert list(risks) == pytest.approx([0.0, 0.25, 0.5])
    assert area_under_risks([0.2, 0.9, 0.5], [1.0, 0.0, 0.5]).value == 0.25


def test_the_order_within_a_tie_does_not_matter() -> None:
    draw = random.Random(2)
    pairs = [(round(draw.random(), 1), draw.random()) for _ in range(30)]
    before = selective_risks(*zip(*pairs, strict=True))
    draw.shuffle(pairs)
    assert list(selective_risks(*zip(*pairs, strict=True))) == pytest.approx(list(before))


def test_the_calibration_error_is_the_mean_distance_over_bins() -> None:
    # Twenty answers in ten bins of two: the lower ten have 0.3 and none is right, the upper ten 0.9 and all are.
    confidence, right = [0.3] * 10 + [0.9] * 10, [0.0] * 10 + [1.0] * 10
    assert calibration_error(confidence, right).value == pytest.approx((0.3 + 0.1) / 2)
    assert calibration_error([0.0, 1.0], [0.0, 1.0]).value == 0.0
