"""Which committed slots are masked again. Values by hand from the formulas of ReMDM (arXiv 2503.00307)."""

import pytest
import torch
from remask.dllm.policy import Policy, Remask
from remask.dllm.remask import (
    Clock,
    alpha,
    clock,
    commit_chance,
    largest_sigma,
    mask_spans,
    share_by_doubt,
    sigma,
    unsure_spans,
)
from torch import Tensor


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def remdm(remask: Remask, eta: float = 0.02) -> Policy:
    return Policy(commit="ancestral", remask=remask, steps=4, eta=eta)


def at(policy: Policy, spent: int) -> Clock:
    return clock(policy, torch.tensor([spent]), torch.tensor([4]))


def test_a_clock_of_four_steps_falls_by_quarters() -> None:
    now = clock(remdm("cap"), torch.tensor([0, 1, 3]), torch.tensor([4, 4, 4]))
    assert now.time_B.tolist() == [1.0, 0.75, 0.25]
    assert now.alpha_t_B.tolist() == [0.0, 0.25, 0.75]
    assert now.alpha_s_B.tolist() == [0.25, 0.5, 1.0]


def test_the_largest_chance_keeps_the_share_that_is_masked() -> None:
    # (1 - 0.75) / 0.5 = 0.5; (1 - 0.5) / 0.25 = 2, so 1; nothing may be masked again in the last step.
    assert largest_sigma(numbers(0.5, 0.25, 0.75), numbers(0.75, 0.5, 1.0)).tolist() == [0.5, 1.0, 0.0]


@pytest.mark.parametrize(
    ("remask", "eta", "spent", "expected"),
    [
        ("cap", 0.02, 2, 0.02),
        ("cap", 0.9, 2, 0.5),
        ("rescale", 0.02, 2, 0.01),
        ("rescale", 0.02, 1, 0.02),
        ("conf", 0.02, 2, 0.5),
        ("cap", 0.02, 3, 0.0),
        ("rescale", 1.0, 3, 0.0),
        ("conf", 1.0, 3, 0.0),
        ("unsure", 1.0, 2, 0.0),
    ],
)
def test_sigma_by_hand(remask: Remask, eta: float, spent: int, expected: float) -> None:
    policy = remdm(remask, eta)
    assert sigma(policy, at(policy, spent)).tolist() == pytest.approx([expected])


def test_conf_masks_again_what_was_least_sure_most_often() -> None:
    committed = torch.tensor([[True, False, True]])
    shares = share_by_doubt(numbers(0.5), torch.tensor([[0.9, 0.0, 0.1]]), committed)
    # exp(-0.9) = 0.40657, exp(-0.1) = 0.90484; half of each one's share of their sum.
    assert shares[0].tolist() == pytest.approx([0.155013, 0.0, 0.344987], abs=1e-6)


def test_conf_with_nothing_committed_masks_nothing() -> None:
    assert share_by_doubt(numbers(0.5), torch.zeros(1, 2), torch.zeros(1, 2, dtype=torch.bool)).tolist() == [[0.0, 0.0]]


def test_loop_rises_holds_and_rises_again() -> None:
    policy = remdm("loop")
    times = numbers(1.0, 0.775, 0.55, 0.3, 0.05, 0.025, 0.0)
    assert alpha(policy, times).tolist() == pytest.approx([0.0, 0.45, 0.9, 0.9, 0.9, 0.95, 1.0])


def test_loop_corrects_only_on_its_plateau() -> None:
    policy = remdm("loop")
    time = numbers(0.6, 0.5, 0.04)
    on_the_way = Clock(time, alpha(policy, time), alpha(policy, time - 0.02))
    assert sigma(policy, on_the_way).tolist() == pytest.approx([0.0, 0.02, 0.0])


def test_loop_with_no_end_phase_still_commits_everything_in_the_last_step() -> None:
    policy = Policy(commit="ancestral", remask="loop", steps=4, loop_off=0.0)
    last = at(policy, 3)
    assert commit_chance(last, sigma(policy, last)).tolist() == [1.0]


@pytest.mark.parametrize(
    ("alpha_t", "alpha_s", "re_masked", "expected"),
    [
        (0.0, 0.25, 0.0, 0.25),
        (0.5, 0.75, 0.0, 0.5),  # Dream's origin: 1 - s/t = 1 - 0.25/0.5
        (0.5, 0.75, 0.02, 0.52),  # (0.75 - 0.98 * 0.5) / 0.5
        (0.9, 0.9, 0.02, 0.18),  # on loop's plateau: 0.02 * 0.9 / 0.1
        (0.75, 1.0, 0.0, 1.0),
    ],
)
def test_the_chance_to_commit_by_hand(alpha_t: float, alpha_s: float, re_masked: float, expected: float) -> None:
    now = Clock(numbers(1 - alpha_t), numbers(alpha_t), numbers(alpha_s))
    assert commit_chance(now, numbers(re_masked)).tolist() == pytest.approx([expected])


def test_what_is_masked_again_and_what_is_committed_keep_the_marginals() -> None:
    # Committed after the step: alpha_t (1 - sigma) + (1 - alpha_t) * chance = alpha_s.
    for spent in range(4):
        for remask in ("cap", "rescale", "loop"):
            policy = remdm(remask, eta=0.3)
            now = at(policy, spent)
            again = sigma(policy, now)
            after = now.alpha_t_B * (1 - again) + (1 - now.alpha_t_B) * commit_chance(now, again)
            assert after.tolist() == pytest.approx(now.alpha_s_B.tolist())


def test_unsure_spans_reach_to_their_neighbours_but_not_into_what_may_not_change() -> None:
    confidence = torch.tensor([[0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.2]])
    may_change = torch.tensor([[True, False, True, True, True, True, True]])
    spans = unsure_spans(confidence, may_change, below=0.5, reach=1)
    assert spans[0].nonzero()[:, 0].tolist() == [2, 3, 5, 6]
    assert unsure_spans(confidence, may_change, below=0.5)[0].nonzero()[:, 0].tolist() == [2, 6]
    assert bool(unsure_spans(confidence, torch.ones(1, 7, dtype=torch.bool), below=0.5, reach=99).all())


def test_spans_from_outside_leave_the_canvas_they_were_given() -> None:
    canvas = torch.tensor([5, 6, 7, 8])
    assert mask_spans(canvas, [(0, 1), (2, 4)], mask_id=-2).tolist() == [-2, 6, -2, -2]
    assert canvas.tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("span", [(-1, 2), (2, 5), (3, 2)])
def test_a_span_outside_the_canvas_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="not within a canvas of 4"):
        mask_spans(torch.zeros(4), [span], mask_id=1)
