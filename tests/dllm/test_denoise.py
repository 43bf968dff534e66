"""The denoising loop: what every policy keeps, what LLaDA does, what a row gets in a batch."""

# B batch, N canvas slots, V vocabulary.

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.denoise import Denoised, Proposal, Proposer, Run, Step, denoise
from remask.dllm.errors import GenerationFailed
from remask.dllm.policy import Policy, threshold_policy
from remask.dllm.sample import Sampling, from_logits
from remask.dllm.table import TableDenoiser
from torch import Tensor

MASK, WORDS, PAD = 5, 5, -1
QUICK = settings(max_examples=50, deadline=None)


class Watched(NamedTuple):
    steps: list[Step]
    result: Denoised


def watch(run: Run) -> Watched:
    """Every pass and the end, of a run that must come to one."""
    steps: list[Step] = []
    while len(steps) < 500:
        try:
            steps.append(next(run))
        except StopIteration as stop:
            return Watched(steps, stop.value)
    raise AssertionError("the run does not end")


def table(seed: int, slots: int = 12) -> TableDenoiser:
    """Slots that depend on their neighbours, and a mask id within the vocabulary that they would love to write."""
    generator = torch.Generator().manual_seed(seed)
    logits, after, before = (torch.randn(n, WORDS + 1, generator=generator) for n in (slots, WORDS + 1, WORDS + 1))
    logits[:, MASK] += 2
    return TableDenoiser(logits, mask_id=MASK, after_VV=after, before_VV=before)


def always(*confidence: float) -> Proposer:
    """Word 1 everywhere, with these confidences whatever the canvas."""

    def propose(canvas_BN: Tensor) -> Proposal:
        return Proposal(torch.ones_like(canvas_BN), torch.tensor(confidence).expand(canvas_BN.shape))

    return propose


def blank(slots: int) -> Tensor:
    return torch.full((1, slots), MASK)


def filled_by(steps: Sequence[Step], row: int = 0) -> list[list[int]]:
    """The slots each pass committed in a row."""
    return [s.committed_BN[row].nonzero()[:, 0].tolist() for s in steps]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    remask = draw(st.sampled_from(["never", "never", "cap", "rescale", "conf", "loop", "unsure"]))
    commit = draw(st.sampled_from(["schedule", "random", "threshold", "factor", "entropy", "ancestral", "all"]))
    clocked = commit == "ancestral" or remask not in ("never", "unsure")
    return Policy(
        commit=commit,
        remask=remask,
        steps=draw(st.integers(1, 9) if clocked else st.none() | st.integers(1, 9)),
        shares=draw(st.sampled_from(["even", "time"])),
        threshold=draw(st.floats(0, 1)),
        factor=draw(st.floats(0, 3)),
        entropy_bound=draw(st.floats(0, 3)),
        block_length=draw(st.none() | st.integers(1, 5)),
        block_moves=draw(st.sampled_from(["jump", "slide"])),
        eta=draw(st.floats(0, 1)),
        unsure_below=draw(st.floats(0, 1)),
        unsure_reach=draw(st.integers(0, 2)),
        unsure_rounds=draw(st.integers(0, 3)),
        stable_passes=draw(st.none() | st.integers(1, 3)),
        max_passes=draw(st.none() | st.integers(1, 6)),
        leave_masks=draw(st.booleans()),
    )


samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 1.0]),
    top_p=st.sampled_from([1.0, 0.8]),
    confidence=st.sampled_from(["probability", "margin", "entropy"]),
)
rows = st.lists(st.integers(0, WORDS), min_size=1, max_size=9)


# What every policy keeps.


@QUICK
@given(policies(), samplings, st.lists(rows, min_size=1, max_size=3), st.integers(0, 99), st.data())
def test_every_policy_keeps_the_rules(
    policy: Policy, sampling: Sampling, canvases: list[list[int]], seed: int, data: st.DataObject
) -> None:
    N = max(map(len, canvases))
    canvas = torch.tensor([c + [PAD] * (N - len(c)) for c in canvases])
    chosen = torch.tensor(
        data.draw(st.lists(st.lists(st.booleans(), min_size=N, max_size=N), min_size=len(canvas), max_size=len(canvas)))
    )
    fixed = (chosen | (canvas == PAD)) & (canvas != MASK)
    kept, model = canvas.clone(), table(seed)
    steps, result = watch(
        denoise(
            from_logits(model, (), sampling, seed=seed), canvas, mask_id=MASK, policy=policy, seed=seed, fixed_BN=fixed
        )
    )
    assert torch.equal(canvas, kept)
    before = canvas
    for index, step in enumerate(steps, 1):
        masked = before == MASK
        assert step.index == index
        assert torch.equal(step.canvas_BN[fixed], canvas[fixed])
        assert not bool((step.remasked_BN & (fixed | masked)).any())
        assert not bool((step.committed_BN & ~(masked | step.remasked_BN)).any())
        changed = step.canvas_BN != before
        assert not bool((changed & ~(step.committed_BN | step.remasked_BN)).any())
        assert not bool((step.canvas_BN[step.committed_BN] == MASK).any())
        assert torch.equal(step.masked_B, (step.canvas_BN == MASK).sum(1))
        waits = policy.remdm and policy.block_length is not None
        assert waits or bool((step.committed_BN.any(1) | ~masked.any(1)).all())
        before = step.canvas_BN
    assert torch.equal(before, result.canvas_BN)
    assert len(steps) == result.passes <= (policy.max_passes or 500)
    left = result.canvas_BN == MASK
    assert not bool(left.any()) or (policy.leave_masks and result.passes == policy.max_passes)
    assert bool((result.confidence_BN[left] == 0).all())
    assert bool((result.confidence_BN[fixed] == 1).all())


@QUICK
@given(st.sampled_from(["schedule", "random"]), rows, st.integers(1, 9), st.none() | st.integers(1, 4))
def test_a_schedule_is_never_exceeded(commit: str, row: list[int], steps: int, block_length: int | None) -> None:
    policy = Policy(commit=commit, steps=steps, block_length=block_length)  # type: ignore[arg-type]
    canvas = torch.tensor([row])
    seen, result = watch(denoise(from_logits(table(1), ()), canvas, mask_id=MASK, policy=policy))
    masked = int((canvas == MASK).sum())
    first = next((i for i, word in enumerate(row) if word == MASK), 0)
    blocks = len({(i - first) // (block_length or 99) for i, word in enumerate(row) if word == MASK}) or 1
    share = max(1, steps // blocks)
    assert result.passes <= share * blocks
    assert sum(int(s.committed_BN.sum()) for s in seen) == masked
    assert all(int(s.committed_BN.sum()) <= math.ceil(min(masked, block_length or 99) / share) for s in seen)


@QUICK
@given(policies(), samplings, st.integers(0, 99))
def test_a_run_under_the_same_seed_is_the_same_run(policy: Policy, sampling: Sampling, seed: int) -> None:
    model = table(3)
    first, second = (
        watch(denoise(from_logits(model, (), sampling, seed=seed), blank(8), mask_id=MASK, policy=policy, seed=seed))
        for _ in range(2)
    )
    assert [s.canvas_BN.tolist() for s in first.steps] == [s.canvas_BN.tolist() for s in second.steps]
    assert torch.equal(first.result.confidence_BN, second.result.confidence_BN)


class Padded:
    """Rows of different lengths, each shifted by its padding on the left, each with a table of its own."""

    mask_id = MASK

    def __init__(self, models: Sequence[TableDenoiser], lefts: Sequence[int], lengths: Sequence[int]) -> None:
        self.rows = list(zip(models, lefts, lengths, strict=True))

    def prefill(self, prompts: Sequence[Sequence[int]]) -> tuple[()]:
        return ()

    def predict(self, state: tuple[()], canvas_BN: Tensor) -> Tensor:
        logits = torch.zeros(*canvas_BN.shape, WORDS + 1)
        for row, (model, left, length) in enumerate(self.rows):
            here = slice(left, left + length)
            logits[row, here] = model.predict(state, canvas_BN[row : row + 1, here])[0]
        return logits


@QUICK
@given(policies(), samplings, st.lists(st.tuples(rows, st.integers(0, 3)), min_size=2, max_size=4), st.integers(0, 99))
def test_a_row_gets_in_a_batch_what_it_gets_alone(
    policy: Policy, sampling: Sampling, padded: list[tuple[list[int], int]], seed: int
) -> None:
    models = [table(seed + i) for i in range(len(padded))]
    seeds = [seed + 7 * i for i in range(len(padded))]
    N = max(left + len(row) for row, left in padded)
    canvas = torch.tensor([[PAD] * left + row + [PAD] * (N - left - len(row)) for row, left in padded])
    batch_model = Padded(models, [left for _, left in padded], [len(row) for row, _ in padded])
    batch = watch(
        denoise(from_logits(batch_model, (), sampling, seed=seeds), canvas, mask_id=MASK, policy=policy, seed=seeds)
    )
    for i, (row, left) in enumerate(padded):
        here = slice(left, left + len(row))
        proposer = from_logits(models[i], (), sampling, seed=seeds[i])
        alone = watch(denoise(proposer, torch.tensor([row]), mask_id=MASK, policy=policy, seed=seeds[i]))
        assert alone.result.canvas_BN[0].tolist() == batch.result.canvas_BN[i, here].tolist()
        assert alone.result.confidence_BN[0].tolist() == batch.result.confidence_BN[i, here].tolist()
        assert alone.result.passes == int(batch.result.passes_B[i])
        for one, many in zip(alone.steps, batch.steps, strict=False):
            assert one.committed_BN[0].tolist() == many.committed_BN[i, here].tolist()
            assert one.remasked_BN[0].tolist() == many.remasked_BN[i, here].tolist()


# LLaDA, step by step.


def llada(
    model: TableDenoiser, prompt: list[int], *, gen_length: int, block_length: int, steps: int
) -> list[list[int]]:
    """The published loop at temperature 0 with low-confidence selection, in plain lists: the canvas after every pass."""
    x = prompt + [MASK] * gen_length
    blocks, seen = gen_length // block_length, []
    share = steps // blocks
    for block in range(blocks):
        start = len(prompt) + block * block_length
        window = range(start, start + block_length)
        masks = sum(x[i] == MASK for i in window)
        for step in range(share):
            p = model.predict((), torch.tensor([x]))[0].softmax(-1).tolist()
            best = [max((w for w in range(WORDS)), key=lambda w, i=i: p[i][w]) for i in range(len(x))]  # type: ignore[misc]
            open_slots = sorted((i for i in window if x[i] == MASK), key=lambda i: -p[i][best[i]])
            for i in open_slots[: masks // share + (step < masks % share)]:
                x[i] = best[i]
            seen.append(list(x))
    return seen


@QUICK
@given(
    st.integers(0, 999),
    st.lists(st.integers(0, WORDS - 1), max_size=4),
    st.sampled_from([(8, 8, 8), (8, 8, 3), (8, 4, 4), (8, 2, 8), (8, 4, 2), (6, 3, 10), (1, 1, 1)]),
)
def test_the_schedule_is_llada_token_for_token_pass_for_pass(
    seed: int, prompt: list[int], sizes: tuple[int, int, int]
) -> None:
    gen_length, block_length, steps = sizes
    model = table(seed)
    canvas = torch.tensor([prompt + [MASK] * gen_length])
    policy = Policy(steps=steps, block_length=block_length)
    seen, result = watch(denoise(from_logits(model, ()), canvas, mask_id=MASK, policy=policy))
    expected = llada(model, prompt, gen_length=gen_length, block_length=block_length, steps=steps)
    # LLaDA goes on looking at a full block until its steps are used up; we go on to the next.
    changes = [x for before, x in zip([canvas[0].tolist(), *expected], expected, strict=False) if x != before]
    assert [s.canvas_BN[0].tolist() for s in seen] == changes
    assert result.canvas_BN[0].tolist() == expected[-1]


# One rule at a time.


def test_without_a_schedule_each_pass_commits_the_surest_slot() -> None:
    steps, result = watch(denoise(always(0.2, 0.9, 0.5), blank(3), mask_id=MASK, policy=Policy()))
    assert filled_by(steps) == [[1], [2], [0]]
    assert result.confidence_BN[0].tolist() == pytest.approx([0.2, 0.9, 0.5])


def test_a_threshold_commits_all_that_are_sure_and_then_the_surest_of_the_rest() -> None:
    steps, _ = watch(denoise(always(0.2, 0.9, 0.5, 0.95), blank(4), mask_id=MASK, policy=threshold_policy(0.9)))
    assert filled_by(steps) == [[1, 3], [2], [0]]


def test_a_threshold_with_steps_commits_at_least_the_schedule() -> None:
    policy = Policy(commit="threshold", threshold=0.9, steps=2)
    steps, _ = watch(denoise(always(0.2, 0.9, 0.5, 0.4), blank(4), mask_id=MASK, policy=policy))
    assert filled_by(steps) == [[1, 2], [0, 3]]


def test_the_last_pass_of_a_budget_commits_what_is_left() -> None:
    steps, result = watch(denoise(always(0.2, 0.9, 0.5, 0.4), blank(4), mask_id=MASK, policy=Policy(max_passes=2)))
    assert filled_by(steps) == [[1], [0, 2, 3]]
    assert result.passes == 2


def test_a_budget_may_leave_masks() -> None:
    policy = Policy(max_passes=2, leave_masks=True)
    _, result = watch(denoise(always(0.2, 0.9, 0.5), blank(3), mask_id=MASK, policy=policy))
    assert result.canvas_BN[0].tolist() == [MASK, 1, 1]
    assert result.confidence_BN[0].tolist() == pytest.approx([0.0, 0.9, 0.5])


def test_everything_at_once_takes_one_pass() -> None:
    steps, _ = watch(denoise(always(0.2, 0.9), blank(2), mask_id=MASK, policy=Policy(commit="all")))
    assert filled_by(steps) == [[0, 1]]


def test_blocks_jump_once_they_are_full() -> None:
    steps, _ = watch(denoise(always(0.1, 0.2, 0.8, 0.9), blank(4), mask_id=MASK, policy=Policy(block_length=2)))
    assert filled_by(steps) == [[1], [0], [3], [2]]


def test_a_sliding_window_moves_with_the_first_masked_slot() -> None:
    policy = Policy(block_length=2, block_moves="slide")
    steps, _ = watch(denoise(always(0.3, 0.2, 0.8, 0.9), blank(4), mask_id=MASK, policy=policy))
    assert filled_by(steps) == [[0], [2], [1], [3]]


def test_blocks_may_be_numbered_from_outside() -> None:
    backwards = torch.tensor([[1, 1, 0, 0]])
    policy = Policy(commit="all")
    steps, _ = watch(denoise(always(0.5), blank(4), mask_id=MASK, policy=policy, block_BN=backwards))
    assert filled_by(steps) == [[2, 3], [0, 1]]


def test_each_row_works_on_its_own_block() -> None:
    canvas = torch.tensor([[MASK, MASK, MASK, MASK], [1, 1, MASK, MASK]])
    fixed = torch.zeros_like(canvas, dtype=torch.bool)
    policy = Policy(block_length=2, commit="all")
    steps, result = watch(denoise(always(0.5), canvas, mask_id=MASK, policy=policy, fixed_BN=fixed))
    assert [filled_by(steps, row) for row in (0, 1)] == [[[0, 1], [2, 3]], [[2, 3], []]]
    assert result.passes_B.tolist() == [2, 1]


def test_random_order_follows_the_seed() -> None:
    policy = Policy(commit="random")
    orders = [
        filled_by(watch(denoise(always(0.5), blank(9), mask_id=MASK, policy=policy, seed=seed)).steps)
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(slot for (slot,) in orders[0]) == list(range(9))


def test_a_proposal_that_stays_the_same_is_committed_whole() -> None:
    steps, _ = watch(denoise(always(0.5), blank(9), mask_id=MASK, policy=Policy(stable_passes=2)))
    assert [len(slots) for slots in filled_by(steps)] == [1, 1, 7]


def test_spans_that_were_unsure_are_masked_and_denoised_again() -> None:
    policy = Policy(commit="all", remask="unsure", unsure_below=0.5, unsure_reach=1)
    steps, result = watch(denoise(always(0.9, 0.9, 0.9, 0.2), blank(4), mask_id=MASK, policy=policy))
    assert filled_by(steps) == [[0, 1, 2, 3], [2, 3]]
    assert steps[1].remasked_BN.tolist() == [[False, False, True, True]]
    assert result.passes == 2


def test_a_given_slot_that_is_not_fixed_can_be_masked_again_and_a_fixed_one_never() -> None:
    fixed = torch.tensor([[True, False, False, True]])
    canvas = torch.tensor([[2, 2, MASK, 2]])
    policy = Policy(commit="all", remask="unsure", unsure_below=0.5, unsure_reach=3)
    steps, result = watch(denoise(always(0.1), canvas, mask_id=MASK, policy=policy, fixed_BN=fixed))
    assert steps[1].remasked_BN.tolist() == [[False, True, True, False]]
    assert result.canvas_BN.tolist() == [[2, 1, 1, 2]]


def test_remdm_keeps_the_share_of_masks_that_its_clock_says() -> None:
    N = 4000
    policy = Policy(commit="ancestral", remask="cap", eta=0.5, steps=4)
    steps, result = watch(denoise(always(0.5), blank(N), mask_id=MASK, policy=policy, seed=3))
    shares = [int(s.masked_B[0]) / N for s in steps]
    assert shares == pytest.approx([0.75, 0.5, 0.25, 0.0], abs=0.03)
    assert bool(steps[2].remasked_BN.any())
    assert result.passes == 4


def test_remdm_goes_on_correcting_a_full_canvas_until_its_clock_is_down() -> None:
    policy = Policy(commit="all", remask="rescale", eta=1.0, steps=6)
    steps, result = watch(denoise(always(0.5), blank(30), mask_id=MASK, policy=policy))
    assert result.passes == 6
    assert bool(steps[1].remasked_BN.any())
    assert int(steps[-1].masked_B) == 0


def test_remdm_runs_down_the_clock_of_a_full_block_before_the_next() -> None:
    policy = Policy(commit="all", remask="rescale", eta=0.0, steps=6, block_length=2)
    steps, _ = watch(denoise(always(0.5), blank(4), mask_id=MASK, policy=policy))
    assert filled_by(steps) == [[0, 1], [], [], [2, 3], [], []]


def test_remdm_stops_correcting_a_row_whose_proposal_stays_the_same() -> None:
    policy = Policy(commit="all", remask="rescale", eta=1.0, steps=20, stable_passes=3)
    steps, result = watch(denoise(always(0.5), blank(30), mask_id=MASK, policy=policy))
    assert result.passes == 4
    assert not bool(steps[-1].remasked_BN.any())
    assert int(steps[-1].masked_B) == 0


def test_a_span_that_is_opened_again_is_given_its_passes_to_settle() -> None:
    policy = Policy(stable_passes=2, remask="unsure", unsure_below=0.9)
    steps, _ = watch(denoise(always(0.5), blank(9), mask_id=MASK, policy=policy))
    assert [len(slots) for slots in filled_by(steps)] == [1, 1, 7, 1, 8]


def test_parallel_slots_that_do_not_know_of_each_other_are_mended_by_denoising_again() -> None:
    # Los Angeles or New York: alone, slot 0 prefers New and slot 1 Angeles; each neighbour changes the other's mind.
    words = ["Los", "New", "Angeles", "York"]
    base = torch.tensor([[1.0, 1.2, -9.0, -9.0], [-9.0, -9.0, 1.1, 1.0]])
    after, before = torch.zeros(4, 4), torch.zeros(4, 4)
    after[0, 2] = after[1, 3] = before[2, 0] = before[3, 1] = 6.0
    model = TableDenoiser(base, mask_id=4, after_VV=after, before_VV=before)

    def said(policy: Policy) -> str:
        canvas = torch.full((1, 2), 4)
        result = watch(denoise(from_logits(model, ()), canvas, mask_id=4, policy=policy)).result
        return " ".join(words[i] for i in result.canvas_BN[0].tolist())

    together = Policy(commit="all")
    assert said(together) == "New Angeles"
    assert said(Policy()) == "New York"
    again = replace(together, remask="unsure", unsure_below=0.54, unsure_reach=0)
    assert said(again) == "New York"


# Ends and mistakes.


def test_closing_a_run_stops_before_the_next_pass() -> None:
    passes = []

    def propose(canvas_BN: Tensor) -> Proposal:
        passes.append(1)
        return always(0.5)(canvas_BN)

    run = denoise(propose, blank(9), mask_id=MASK, policy=Policy())
    next(run)
    run.close()
    assert len(passes) == 1


@pytest.mark.parametrize("canvas", [torch.tensor([[1, 2]]), torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, 3)])
@pytest.mark.parametrize(
    "policy", [Policy(), Policy(block_length=2), Policy(remask="cap", steps=3), Policy(remask="unsure")]
)
def test_a_canvas_with_nothing_to_fill_takes_no_pass(canvas: Tensor, policy: Policy) -> None:
    steps, result = watch(denoise(always(0.5), canvas.long(), mask_id=MASK, policy=policy))
    assert steps == []
    assert result.passes == 0
    assert torch.equal(result.canvas_BN, canvas.long())


def test_seconds_come_from_the_clock_that_is_passed_in() -> None:
    ticks = iter([1.0, 3.5])
    run = denoise(always(0.5), blank(1), mask_id=MASK, policy=Policy(), clock=lambda: next(ticks))
    assert watch(run).steps[0].seconds == 2.5


def test_a_step_keeps_the_canvas_it_showed() -> None:
    run = denoise(always(0.9, 0.5), blank(2), mask_id=MASK, policy=Policy())
    first = next(run)
    next(run)
    assert first.canvas_BN.tolist() == [[1, MASK]]


def test_a_model_that_proposes_the_mask_is_told_so() -> None:
    def propose(canvas_BN: Tensor) -> Proposal:
        return Proposal(torch.full_like(canvas_BN, MASK), torch.ones(canvas_BN.shape))

    with pytest.raises(GenerationFailed, match="mask id 5"):
        next(denoise(propose, blank(2), mask_id=MASK, policy=Policy()))


def test_a_model_that_answers_with_nan_is_told_so() -> None:
    with pytest.raises(GenerationFailed, match="not a number"):
        next(denoise(always(math.nan), blank(2), mask_id=MASK, policy=Policy()))


def test_a_fixed_mask_is_refused_before_any_pass() -> None:
    with pytest.raises(ValueError, match="fixed slot holds the mask"):
        denoise(always(0.5), blank(2), mask_id=MASK, policy=Policy(), fixed_BN=torch.tensor([[True, False]]))


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="fixed_BN"):
        denoise(always(0.5), blank(2), mask_id=MASK, policy=Policy(), fixed_BN=torch.tensor([[True]]))
    with pytest.raises(ValueError, match="rows, slots"):
        denoise(always(0.5), blank(2)[0], mask_id=MASK, policy=Policy())
