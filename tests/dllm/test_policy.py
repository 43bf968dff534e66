"""Which slots a pass commits, and how blocks and clocks count."""

# B batch, N canvas slots.

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.policy import (
    Policy,
    above_threshold,
    by_chance,
    count_unchanged,
    number_blocks,
    quota,
    quota_by_time,
    surest,
    threshold_policy,
    window,
    within_entropy,
    within_factor,
)
from torch import Tensor

QUICK = settings(max_examples=60, deadline=None)
confidences = st.lists(st.floats(0.0, 1.0, width=32), min_size=1, max_size=9)


def row(*values: float) -> Tensor:
    return torch.tensor([values])


def picked(chosen_BN: Tensor) -> list[int]:
    (row_N,) = chosen_BN
    return row_N.nonzero()[:, 0].tolist()  # type: ignore[no-any-return]


EVERY = torch.ones(1, 4, dtype=torch.bool)


def schedule(masked: int, steps: int) -> list[int]:
    """What the passes commit in all, one after the other."""
    counts = []
    for spent in range(steps):
        counts.append(int(quota(torch.tensor([masked]), torch.tensor([steps - spent]))))
        masked -= counts[-1]
    return counts


@pytest.mark.parametrize(
    ("masked", "steps", "expected"),
    [(12, 5, [3, 3, 2, 2, 2]), (8, 4, [2, 2, 2, 2]), (3, 5, [1, 1, 1, 0, 0]), (7, 1, [7]), (0, 2, [0, 0])],
)
def test_a_schedule_shares_the_masks_evenly_and_gives_the_rest_to_the_first_passes(
    masked: int, steps: int, expected: list[int]
) -> None:
    assert schedule(masked, steps) == expected


@QUICK
@given(st.integers(0, 60), st.integers(1, 20))
def test_the_schedule_is_lladas_num_transfer(masked: int, steps: int) -> None:
    base, rest = divmod(masked, steps)
    assert schedule(masked, steps) == [base + (i < rest) for i in range(steps)]


def test_passes_beyond_the_schedule_commit_everything() -> None:
    assert quota(torch.tensor([4]), torch.tensor([-1])).tolist() == [4]


def test_the_surest_slots_are_taken_and_ties_go_to_the_earlier() -> None:
    assert picked(surest(row(0.5, 0.9, 0.5, 0.1), EVERY, torch.tensor([2]))) == [0, 1]


def test_a_slot_that_is_not_open_is_never_taken_however_much_is_asked_for() -> None:
    only_last = torch.tensor([[False, False, False, True]])
    assert picked(surest(row(0.9, 0.9, 0.9, 0.0), only_last, torch.tensor([4]))) == [3]


def test_a_threshold_includes_its_own_value() -> None:
    assert picked(above_threshold(row(0.5, 0.75, 0.8, 0.1), EVERY, 0.75)) == [1, 2]


def test_a_factor_takes_the_longest_run_of_slots_that_are_sure_enough_together() -> None:
    # With factor 0.3 the surest needs 1 - 0.3/2 = 0.85, the second 0.9, the third 0.925.
    assert picked(within_factor(row(0.91, 0.87, 0.99, 0.95), EVERY, 0.3)) == [2, 3]
    assert picked(within_factor(row(0.2, 0.3, 0.1, 0.84), EVERY, 0.3)) == []


def test_a_factor_stops_at_the_first_slot_that_is_not_sure_enough() -> None:
    # 0.88 fails as second (0.9 needed), so the third isn't asked, though factor 0.3 would want only 0.925 of it.
    assert picked(within_factor(row(0.99, 0.88, 0.87, 0.86), EVERY, 0.3)) == [0]


@QUICK
@given(confidences, st.floats(0, 3))
def test_a_factor_agrees_with_trying_every_count(values: list[float], factor: float) -> None:
    key = torch.tensor([values], dtype=torch.float64)
    ranked = sorted(values, reverse=True)
    holds = [all(ranked[i] >= 1 - factor / (i + 2) for i in range(n)) for n in range(len(ranked) + 1)]
    chosen = within_factor(key, torch.ones_like(key, dtype=torch.bool), factor)
    assert int(chosen.sum()) == max(n for n, fits in enumerate(holds) if fits)


def test_an_entropy_bound_counts_all_but_the_least_sure_slot() -> None:
    # exp(-0.1), exp(-0.2), exp(-0.3), exp(-0.4): 0 + 0.1 + 0.2 = 0.3 nats stand before the third and 0.6 before the fourth.
    confidence = torch.tensor([[-0.3, -0.1, -0.4, -0.2]], dtype=torch.float64).exp()
    assert picked(within_entropy(confidence, EVERY, 0.301)) == [0, 1, 3]
    assert picked(within_entropy(confidence, EVERY, 0.09)) == [1]


@QUICK
@given(confidences, st.floats(0, 3))
def test_an_entropy_bound_agrees_with_trying_every_count(values: list[float], bound: float) -> None:
    key = torch.tensor([values], dtype=torch.float64)
    nats = sorted(-math.log(max(v, 1e-300)) for v in values)
    fits = [n for n in range(1, len(nats) + 1) if sum(nats[: n - 1]) <= bound]
    chosen = within_entropy(key, torch.ones_like(key, dtype=torch.bool), bound)
    # A sum that lies on the bound may round to either side.
    near = any(abs(sum(nats[: n - 1]) - bound) < 1e-9 for n in range(1, len(nats) + 1))
    assert near or int(chosen.sum()) == max(fits)


def test_chance_takes_the_slots_whose_number_is_below_it() -> None:
    assert picked(by_chance(row(0.0, 0.49, 0.5, 0.9), EVERY, torch.tensor([0.5]))) == [0, 1]
    assert picked(by_chance(row(0.0, 0.49, 0.5, 0.9), EVERY, torch.tensor([0.0]))) == []


def test_blocks_are_counted_from_the_first_free_slot_of_each_row() -> None:
    free = torch.tensor([[True] * 5, [False, False, True, True, True]])
    assert number_blocks(free, 2).tolist() == [[0, 0, 1, 1, 2], [-1, -1, 0, 0, 1]]
    assert number_blocks(free, None).unique().tolist() == [0]


def test_a_window_begins_at_the_first_masked_slot() -> None:
    masked = torch.tensor([[False, True, False, True, True], [False] * 5])
    assert window(masked, 3).tolist() == [[False, True, False, True, False], [False] * 5]


def test_a_change_anywhere_in_a_row_starts_its_count_again() -> None:
    before, now = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [3, 5]])
    assert count_unchanged(now, before, torch.tensor([2, 2])).tolist() == [3, 0]
    assert count_unchanged(now, None, torch.tensor([0, 0])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"steps": 0}, "steps=0"),
        ({"block_length": 0}, "block_length=0"),
        ({"max_passes": 0}, "max_passes=0"),
        ({"threshold": 1.5}, "threshold=1.5"),
        ({"eta": math.nan}, "eta=nan"),
        ({"factor": -1.0}, "factor=-1.0"),
        ({"commit": "ancestral"}, "steps"),
        ({"remask": "cap"}, "steps"),
        ({"remask": "loop", "steps": 4, "loop_on": 0.1, "loop_off": 0.2}, "loop_on=0.1"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused_with_its_value(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Policy(**wrong)  # type: ignore[arg-type]


def test_the_threshold_policy_fills_the_canvas_within_its_budget() -> None:
    policy = threshold_policy(0.5, max_passes=3)
    assert (policy.commit, policy.threshold, policy.max_passes, policy.leave_masks) == ("threshold", 0.5, 3, False)


def dream_counts(masked: int, steps: int) -> list[int]:
    """What Dream's sampler commits step by step, read plainly from its code."""
    times, counts = torch.linspace(1, 1e-3, steps + 1), []
    for i in range(steps):
        share = 1 - times[i + 1] / times[i]
        counts.append(int(torch.tensor(float(masked)) * share) if i < steps - 1 else masked)
        masked -= counts[-1]
    return counts


@QUICK
@given(st.integers(1, 80), st.integers(1, 90))
def test_time_shares_are_dreams_without_the_passes_that_commit_nothing(masked: int, steps: int) -> None:
    left, spent, counts = masked, 0, []
    while left:
        count_B, spent_B = quota_by_time(torch.tensor([left]), torch.tensor([spent]), torch.tensor([steps]))
        counts.append(int(count_B))
        left, spent = left - counts[-1], int(spent_B) + 1
    assert counts == [count for count in dream_counts(masked, steps) if count]
    assert spent <= steps
