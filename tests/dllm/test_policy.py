"""Policies by hand-computed values."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from remask.dllm.policy import Policy, at_least, by_factor, open_block, quota, remdm_chance, surest, unsure

SURE = torch.tensor([[0.9, 0.2, 0.7, 0.7, 0.95]])
OPEN = torch.tensor([[True, True, True, True, False]])


def picked(mask: torch.Tensor) -> list[int]:
    return mask[0].nonzero()[:, 0].tolist()


def test_the_surest_open_slots_are_taken_and_of_equals_the_left_one() -> None:
    assert picked(surest(SURE, OPEN, torch.tensor([2]))) == [0, 2]


def test_a_threshold_takes_all_above_it_and_always_one() -> None:
    assert picked(at_least(SURE, OPEN, 0.7)) == [0, 2, 3]
    assert picked(at_least(SURE, OPEN, 0.99)) == [0]


def test_the_factor_rule_takes_a_prefix() -> None:
    # n=1 always; n=2 needs 1 - f/3; n=3 needs 1 - f/4; n=4 needs 1 - f/5.
    assert picked(by_factor(SURE, OPEN, 1.0)) == [0, 2]  # 0.7 >= 0.667, then 0.7 < 0.75
    assert picked(by_factor(SURE, OPEN, 1.3)) == [0, 2, 3]  # 0.567, 0.675, then 0.2 < 0.74
    assert picked(by_factor(SURE, OPEN, 0.0)) == [0]


def test_only_the_first_block_with_masks_is_open() -> None:
    masked = torch.tensor([[False, False, True, True, True], [True, False, False, False, True]])
    assert open_block(masked, 2).tolist() == [
        [False, False, True, True, False],
        [True, False, False, False, False],
    ]
    assert torch.equal(open_block(masked, None), masked)


@given(st.integers(0, 60), st.integers(1, 20))
def test_quotas_spend_everything_in_the_given_passes_larger_shares_first(left: int, passes: int) -> None:
    base, extra = divmod(left, passes)
    wanted = [base + (i < extra) for i in range(passes)]
    shares = []
    for still in range(passes, 0, -1):
        shares.append(quota(left, still))
        left -= shares[-1]
    assert shares == wanted


def test_unsure_slots_are_those_revealed_with_little_confidence() -> None:
    committed = torch.tensor([[True, True, False, True, True]])
    assert picked(unsure(SURE, committed, 0.75)) == [1, 3]


def test_remdm_chances_stay_within_what_the_schedule_allows() -> None:
    assert remdm_chance(0.9, 0.8, 0.5, "cap") == pytest.approx(0.125)  # (1 - 0.9) / 0.8
    assert remdm_chance(0.9, 0.8, 0.5, "rescale") == pytest.approx(0.0625)
    assert remdm_chance(0.3, 0.0, 0.4, "rescale") == pytest.approx(0.4)


def test_a_policy_that_can_never_finish_is_refused() -> None:
    with pytest.raises(ValueError, match="max_passes 0"):
        Policy(max_passes=0)
    with pytest.raises(ValueError, match="block_length 0"):
        Policy(block_length=0)
