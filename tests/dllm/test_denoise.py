"""The loop: against a plain reading of LLaDA's sampler, and the promises that hold for every policy."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.denoise import Denoised, Sampling, Step, canvas_of, denoise, from_logits, last
from remask.dllm.policy import Commit, Policy
from remask.dllm.table import TableDenoiser
from torch import Tensor

MASK, V, N = 0, 9, 8


def table(seed: int, *, links: int = 6) -> TableDenoiser:
    g = torch.Generator().manual_seed(seed)
    given = {
        (int(torch.randint(N, (1,), generator=g)), int(torch.randint(1, V, (1,), generator=g))): 3
        * torch.randn(N, V, generator=g)
        for _ in range(links)
    }
    return TableDenoiser(2 * torch.randn(N, V, generator=g), MASK, given)


def run(model: TableDenoiser, canvas: Tensor, policy: Policy, **options: object) -> tuple[list[Step], Denoised]:
    steps = denoise(from_logits(model, None), canvas, mask_id=MASK, policy=policy, **options)  # type: ignore[arg-type]
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as stop:
            return seen, stop.value


def llada(model: TableDenoiser, steps: int, block: int) -> list[int]:
    """LLaDA's low-confidence sampler at temperature 0, written out plainly for one row."""
    x = [MASK] * N
    for begin in range(0, N, block):
        per_block = steps // (N // block)
        for step in range(per_block):
            logits = model.predict(None, torch.tensor([x]))[0].double()
            logits[:, MASK] = float("-inf")
            p, ids = logits.softmax(-1).max(-1)
            waiting = [i for i in range(begin, begin + block) if x[i] == MASK]
            base, extra = divmod(block, per_block)
            for i in sorted(waiting, key=lambda i: -float(p[i]))[: base + (step < extra)]:
                x[i] = int(ids[i])
    return x


@pytest.mark.parametrize(("steps", "block"), [(8, 8), (4, 8), (3, 8), (8, 4), (4, 4), (2, 4), (4, 2)])
def test_the_schedule_decodes_token_for_token_as_llada_does(steps: int, block: int) -> None:
    for seed in range(25):
        model = table(seed)
        policy = Policy(commit="schedule", max_passes=steps, block_length=None if block == N else block)
        _, done = run(model, torch.zeros(1, N, dtype=torch.long), policy)
        assert done.canvas_BN[0].tolist() == llada(model, steps, block)
        assert done.passes == steps


POLICIES = st.builds(
    Policy,
    commit=st.sampled_from(Commit.__args__),  # type: ignore[attr-defined]
    max_passes=st.integers(1, 9),
    threshold=st.floats(0, 1),
    factor=st.floats(0, 2),
    block_length=st.none() | st.integers(1, N),
    order=st.sampled_from(["confidence", "random"]),
    remask_below=st.none() | st.floats(0, 1),
)
CANVASES = st.lists(st.lists(st.sampled_from([MASK, MASK, 3, 5]), min_size=N, max_size=N), min_size=1, max_size=3)


@settings(deadline=None)
@given(CANVASES, POLICIES, st.integers(0, 50))
def test_every_canvas_is_filled_in_time_and_what_was_given_never_changes(
    rows: list[list[int]], policy: Policy, seed: int
) -> None:
    canvas = torch.tensor(rows)
    seen, done = run(table(seed), canvas, policy, seed=seed)
    given_BN = canvas != MASK
    assert done.passes <= policy.max_passes
    assert not (done.canvas_BN == MASK).any()
    for step in seen:
        assert torch.equal(step.canvas_BN[given_BN], canvas[given_BN])
        assert not (step.committed_BN & given_BN).any()


@settings(deadline=None)
@given(CANVASES, POLICIES, st.integers(0, 50))
def test_a_row_gets_in_a_batch_what_it_gets_alone(rows: list[list[int]], policy: Policy, seed: int) -> None:
    canvas, model = torch.tensor(rows), table(seed)
    _, together = run(model, canvas, policy, seed=seed)
    for number in range(len(rows)):
        _, alone = run(model, canvas[number : number + 1], policy, seed=seed)
        assert torch.equal(alone.canvas_BN[0], together.canvas_BN[number])


def test_fixed_slots_stay_masked_or_not_whatever_the_model_says() -> None:
    canvas = canvas_of([3, None, None, 5, None, None, None, 7], MASK)
    fixed = torch.zeros_like(canvas, dtype=torch.bool)
    fixed[0, 1] = True
    _, done = run(table(2), canvas, Policy(max_passes=3), fixed_BN=fixed)
    assert done.canvas_BN[0, [0, 1, 3, 7]].tolist() == [3, MASK, 5, 7]
    assert (done.canvas_BN[0, [2, 4, 5, 6]] != MASK).all()


def test_what_was_unsure_when_revealed_is_masked_again_and_repaired() -> None:
    """Slot 1 is a coin toss until slot 0 is known: committed together they disagree, re-masking repairs it."""
    logits = torch.full((2, 4), -9.0)
    logits[0, 2], logits[0, 1] = 3.0, 0.0
    logits[1, 1], logits[1, 3] = 0.1, 0.0
    then = torch.zeros(2, 4)
    then[1, 3] = 5.0
    model = TableDenoiser(logits, MASK, {(0, 2): then})
    blank = torch.zeros(1, 2, dtype=torch.long)
    wrong = last(denoise(from_logits(model, None), blank, mask_id=MASK, policy=Policy(commit="all")))
    assert wrong.canvas_BN.tolist() == [[2, 1]]
    policy = Policy(commit="threshold", threshold=0.0, remask_below=0.8)
    seen, repaired = run(model, blank, policy)
    assert repaired.canvas_BN.tolist() == [[2, 3]]
    assert seen[0].remasked_BN.tolist() == [[False, True]]
    assert repaired.passes == 2


def test_confidence_is_the_models_own_whatever_the_temperature() -> None:
    model = table(3)
    cold = from_logits(model, None)(torch.zeros(1, N, dtype=torch.long))
    warm = from_logits(model, None, sampling=Sampling(temperature=5.0), seed=1)(torch.zeros(1, N, dtype=torch.long))
    logits = model.table_NV.double().clone()
    logits[:, MASK] = float("-inf")
    p = logits.softmax(-1)
    for proposal in (cold, warm):
        wanted = p.gather(1, proposal.ids_BN[0][:, None])[:, 0].float()
        torch.testing.assert_close(proposal.confidence_BN[0], wanted)
    assert not torch.equal(cold.ids_BN, warm.ids_BN)


def test_sampling_follows_the_distribution_and_its_seed() -> None:
    model = TableDenoiser(torch.tensor([[0.0, 1.0, 0.0]]).log(), mask_id=2)
    model = TableDenoiser(torch.tensor([[0.3, 0.7, 1e-9]]).log(), mask_id=2)
    canvas, count = torch.full((1, 1), 2), 0
    for seed in range(1000):
        propose = from_logits(model, None, sampling=Sampling(temperature=1.0), seed=seed)
        ids = propose(canvas).ids_BN
        again = from_logits(model, None, sampling=Sampling(temperature=1.0), seed=seed)(canvas).ids_BN
        assert torch.equal(ids, again)
        count += int(ids)
    assert 640 < count < 760  # 700 expected, four standard deviations


def test_a_forbidden_id_and_the_mask_are_never_written() -> None:
    logits = torch.zeros(1, 4)
    logits[0, MASK], logits[0, 2] = 9.0, 8.0
    proposal = from_logits(TableDenoiser(logits, MASK), None, sampling=Sampling(forbidden=(2,)))(
        torch.zeros(1, 1).long()
    )
    assert int(proposal.ids_BN) in (1, 3)


def test_a_closed_run_asks_for_no_further_pass() -> None:
    asked = []
    model = from_logits(table(1), None)
    steps = denoise(
        lambda canvas: (asked.append(1), model(canvas))[1],
        torch.zeros(1, N, dtype=torch.long),
        mask_id=MASK,
        policy=Policy(commit="schedule", max_passes=8),
    )
    next(steps)
    steps.close()
    assert len(asked) == 1


def test_a_canvas_without_masks_needs_no_pass() -> None:
    seen, done = run(table(1), torch.full((1, N), 3), Policy())
    assert (seen, done.passes) == ([], 0)
