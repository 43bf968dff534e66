"""Token editing, ends, runs of masks and credit: by hand, against brute force, and what a run keeps to."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.credit import Account, Credit
from remask.dllm.denoise import Denoised, Proposal, Run, Step, denoise
from remask.dllm.policy import Policy, after_end, by_hierarchy, to_edit
from remask.dllm.sample import Sampling, from_logits
from remask.dllm.table import TableDenoiser
from torch import Tensor

MASK, END = 9, 1


def finish(run: Run) -> tuple[list[Step], Denoised]:
    steps: list[Step] = []
    while True:
        try:
            steps.append(next(run))
        except StopIteration as stop:
            return steps, stop.value


class Script:
    """Proposes what is written for each pass; the last turn is repeated."""

    def __init__(self, *turns: tuple[Sequence[int], Sequence[float]]) -> None:
        self.turns, self.passes = turns, 0

    def __call__(self, canvas_BN: Tensor) -> Proposal:
        ids, sure = self.turns[min(self.passes, len(self.turns) - 1)]
        self.passes += 1
        return Proposal(torch.tensor([ids]), torch.tensor([sure]))


def blank(slots: int) -> Tensor:
    return torch.full((1, slots), MASK)


# Editing.


def test_a_word_the_model_is_sure_is_wrong_is_replaced_in_the_pass_that_sees_it() -> None:
    script = Script(([2, 3], [0.99, 0.1]), ([4, 5], [0.95, 0.95]), ([4, 5], [0.99, 0.99]))
    policy = Policy(commit="threshold", threshold=0.9, edit_above=0.9)
    steps, done = finish(denoise(script, blank(2), mask_id=MASK, policy=policy))
    assert [step.canvas_BN.tolist() for step in steps] == [[[2, 9]], [[4, 5]], [[4, 5]]]
    assert [step.edited_BN.tolist() for step in steps if step.edited_BN is not None] == [
        [[False, False]],
        [[True, False]],
        [[False, False]],
    ]
    assert done.confidence_BN.tolist() == [[pytest.approx(0.95), pytest.approx(0.95)]]


def test_a_word_the_model_is_less_sure_of_stays() -> None:
    script = Script(([2, 3], [0.99, 0.99]), ([4, 5], [0.9, 0.8]))
    _, done = finish(denoise(script, blank(2), mask_id=MASK, policy=Policy(commit="all", edit_above=0.9)))
    assert (done.canvas_BN.tolist(), done.passes) == ([[2, 3]], 2)


@pytest.mark.parametrize("edit_passes", [0, 1, 3])
def test_a_block_that_never_settles_is_looked_at_so_often_and_no_more(edit_passes: int) -> None:
    turns = [([word, word], [0.99, 0.99]) for word in (2, 3, 4, 5, 6, 7, 8)]
    policy = Policy(commit="all", edit_above=0.9, edit_passes=edit_passes)
    _, done = finish(denoise(Script(*turns), blank(2), mask_id=MASK, policy=policy))
    assert done.passes == 1 + edit_passes
    assert done.canvas_BN.tolist() == [[2 + edit_passes] * 2]


def test_the_next_block_waits_until_this_one_has_settled_and_then_leaves_it() -> None:
    both = ([2, 3, 4, 5], [0.99] * 4)
    other = ([7, 3, 4, 5], [0.99] * 4)
    policy = Policy(commit="threshold", edit_above=0.9, block_length=2)
    steps, done = finish(denoise(Script(both, other, other, both, both), blank(4), mask_id=MASK, policy=policy))
    assert [step.canvas_BN[0].tolist() for step in steps] == [
        [2, 3, 9, 9],
        [7, 3, 9, 9],
        [7, 3, 9, 9],
        [7, 3, 4, 5],
        [7, 3, 4, 5],
    ]
    assert done.canvas_BN.tolist() == [[7, 3, 4, 5]]


def test_what_is_given_is_never_edited() -> None:
    canvas = torch.tensor([[2, MASK]])
    _, done = finish(denoise(Script(([5, 6], [0.99, 0.99])), canvas, mask_id=MASK, policy=Policy(edit_above=0.5)))
    assert done.canvas_BN.tolist() == [[2, 6]]


@given(st.integers(0, 50), st.sampled_from([None, 2, 3]), st.floats(0.05, 0.9))
@settings(deadline=None, max_examples=40)
def test_editing_ends_fills_everything_and_changes_only_what_a_step_names(
    seed: int, block_length: int | None, above: float
) -> None:
    g = torch.Generator().manual_seed(seed)
    model = TableDenoiser(torch.randn(6, 9, generator=g), mask_id=MASK, after_VV=3 * torch.randn(9, 9, generator=g))
    policy = Policy(commit="threshold", threshold=0.3, edit_above=above, block_length=block_length)
    canvas = torch.full((2, 6), MASK)
    steps, done = finish(denoise(from_logits(model, (), held=True), canvas, mask_id=MASK, policy=policy))
    assert not bool((done.canvas_BN == MASK).any())
    for step in steps:
        assert step.edited_BN is not None
        changed = step.canvas_BN != canvas
        assert torch.equal(changed, step.committed_BN | step.edited_BN)
        canvas = step.canvas_BN
    _, first = finish(denoise(from_logits(model, (), held=True), blank(6), mask_id=MASK, policy=policy))
    assert first.canvas_BN.tolist() == done.canvas_BN[:1].tolist()


def test_editing_beside_re_masking_is_refused() -> None:
    with pytest.raises(ValueError, match=r"edit_above=0\.9"):
        Policy(edit_above=0.9, remask="conf", steps=4)
    with pytest.raises(ValueError, match=r"edit_above=1\.5"):
        Policy(edit_above=1.5)


def test_an_equal_word_is_no_edit() -> None:
    same = torch.tensor([[3]])
    assert to_edit(torch.tensor([[0.99]]), same, same, torch.tensor([[True]]), 0.5).tolist() == [[False]]


# Ends.


def test_what_follows_an_end_is_filled_and_the_row_is_done() -> None:
    script = Script(([2, 3, 4, 5], [0.99, 0.1, 0.1, 0.1]), ([2, END, 4, 5], [0.9, 0.99, 0.1, 0.1]))
    policy = Policy(commit="threshold", end_ids=(END,))
    steps, done = finish(denoise(script, blank(4), mask_id=MASK, policy=policy))
    assert (len(steps), done.canvas_BN.tolist()) == (2, [[2, END, END, END]])


def test_an_end_with_a_mask_before_it_waits() -> None:
    script = Script(([2, 3, END, 5], [0.1, 0.1, 0.99, 0.2]), ([2, 3, END, 5], [0.99, 0.99, 0.99, 0.2]))
    policy = Policy(commit="threshold", end_ids=(END,))
    steps, done = finish(denoise(script, blank(4), mask_id=MASK, policy=policy))
    assert (len(steps), done.canvas_BN.tolist()) == (2, [[2, 3, END, END]])


def test_one_row_may_end_while_another_goes_on() -> None:
    table = torch.zeros(4, 9)
    table[:, 5] = 1.0
    model = TableDenoiser(table, mask_id=MASK)
    canvas = torch.tensor([[END, MASK, MASK, MASK], [2, MASK, MASK, MASK]])
    fixed = torch.zeros_like(canvas).bool()
    policy = Policy(steps=3, end_ids=(END,))
    _, done = finish(denoise(from_logits(model, ()), canvas, mask_id=MASK, policy=policy, fixed_BN=fixed))
    assert done.canvas_BN.tolist() == [[END] * 4, [2, 5, 5, 5]]
    assert done.passes_B.tolist() == [1, 3]


@given(st.lists(st.sampled_from([2, 3, END, MASK]), min_size=1, max_size=9))
def test_what_follows_an_end_agrees_with_reading_from_the_left(row: list[int]) -> None:
    canvas = torch.tensor([row])
    end = row.index(END) if END in row else len(row)
    whole = END in row and MASK not in row[:end]
    assert after_end(canvas, canvas == MASK, [END])[0].tolist() == [whole and i > end for i in range(len(row))]


@pytest.mark.parametrize(("slots", "first"), [(0, None), (2, 2), (99, None)])
def test_ends_may_be_forbidden_in_the_first_slots_only(slots: int, first: int | None) -> None:
    table = torch.zeros(4, 9)
    table[:, END] = 5.0
    sampling = Sampling(forbidden=(END,), forbidden_slots=slots)
    ids = from_logits(TableDenoiser(table, mask_id=MASK), (), sampling)(blank(4)).ids_BN[0].tolist()
    assert (ids.index(END) if END in ids else None) == first


# Runs of masks.


def brute_hierarchy(sure: list[float], masked: list[bool], threshold: float, above: float) -> list[bool]:
    """dInfer's description, slot by slot."""
    if not any(masked):
        return [False] * len(sure)
    chosen = [m and s > threshold for s, m in zip(sure, masked, strict=True)]
    at = 0
    while at < len(sure):
        if not masked[at]:
            at += 1
            continue
        stop = at
        while stop < len(sure) and masked[stop]:
            stop += 1
        best = max(range(at, stop), key=lambda i: sure[i])
        chosen[best] = chosen[best] or sure[best] > above
        at = stop
    if not any(chosen):
        chosen[max((i for i, m in enumerate(masked) if m), key=lambda i: sure[i])] = True
    return chosen


@given(
    st.lists(st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.booleans()), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.3, 0.6]),
    st.sampled_from([0.7, 0.9, 1.0]),
)
def test_a_hierarchy_agrees_with_walking_the_runs(
    row: list[tuple[float, bool]], above: float, threshold: float
) -> None:
    sure, masked = [s for s, _ in row], [m for _, m in row]
    got = by_hierarchy(torch.tensor([sure], dtype=torch.float64), torch.tensor([masked]), threshold, above)
    assert got[0].tolist() == brute_hierarchy(sure, masked, threshold, above)


def test_a_hierarchy_halves_the_longest_run_so_that_sixteen_slots_take_five_passes() -> None:
    def propose(canvas_BN: Tensor) -> Proposal:  # surest in the middle of every run
        masked = (canvas_BN == MASK)[0].tolist()
        sure = [0.0] * len(masked)
        at = 0
        while at < len(masked):
            stop = at
            while stop < len(masked) and masked[stop]:
                sure[stop] = 0.5
                stop += 1
            if stop > at:
                sure[(at + stop) // 2] = 0.6
            at = max(stop, at + 1)
        return Proposal(torch.full_like(canvas_BN, 5), torch.tensor([sure]))

    steps, _ = finish(denoise(propose, blank(16), mask_id=MASK, policy=Policy(commit="hierarchy", threshold=0.99)))
    assert [int(step.committed_BN.sum()) for step in steps] == [1, 2, 4, 8, 1]


# Credit.


@given(st.integers(0, 30), st.floats(0, 1), st.floats(0, 1), st.floats(0, 2))
@settings(max_examples=30)
def test_credit_is_what_a_whole_table_of_the_vocabulary_would_say(
    seed: int, decay: float, power: float, weight: float
) -> None:
    g = torch.Generator().manual_seed(seed)
    account, table_BNV = Account(Credit(weight=weight, power=power, decay=decay)), torch.zeros(2, 3, 5)
    for number in range(4):
        logits_BNV = torch.randn(2, 3, 5, generator=g) * 2
        masked_BN = torch.rand(2, 3, generator=g) > 0.3
        table_BNV = table_BNV * (decay if number else 1)
        best = logits_BNV.softmax(-1).max(-1)
        table_BNV.scatter_add_(2, best.indices[..., None], (best.values**power * masked_BN)[..., None])
        expected = logits_BNV + weight * torch.log(table_BNV + 1)
        assert torch.allclose(account.spent(logits_BNV, masked_BN), expected, atol=1e-5)


def test_a_word_that_stays_the_likeliest_grows_surer() -> None:
    model = TableDenoiser(torch.tensor([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]]), mask_id=3)
    propose = from_logits(model, (), credit=Credit())
    canvas = torch.full((1, 2), 3)
    sure = [float(propose(canvas).confidence_BN[0, 0]) for _ in range(4)]
    assert sure == sorted(sure)
    assert sure[-1] > sure[0] + 0.05
    again = from_logits(model, (), credit=Credit())
    assert float(again(canvas).confidence_BN[0, 0]) == sure[0]  # a new run starts with nothing


@pytest.mark.parametrize("wrong", [{"decay": 1.5}, {"weight": -1.0}, {"power": -0.1}])
def test_credit_that_cannot_be_meant_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Credit(**wrong)
