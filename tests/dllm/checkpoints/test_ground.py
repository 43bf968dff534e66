"""What evidence changes, by hand and as properties; then over a whole checkpoint."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.checkpoints.denoiser import Checkpoint, DecodeOptions
from remask.dllm.checkpoints.generator import CheckpointGenerator, GeneratorOptions
from remask.dllm.checkpoints.ground import Contrasted, Grounds, grounds, scale, shift
from remask.dllm.checkpoints.load import load_network
from remask.dllm.checkpoints.network import Network
from remask.dllm.checkpoints.written import WrittenDraft
from remask.dllm.draft import Evidence, Prompt, finish
from torch import Tensor

from .folders import MASK, blank, cases, write
from .tiny import checkpoint, gemma_checkpoint

logits = st.lists(st.floats(-4, 4), min_size=4, max_size=4).map(lambda row: torch.tensor([[row]]))


def test_signal_and_noise_by_hand() -> None:
    signal, noise = shift(torch.tensor([[[0.75, 0.25]]]).log(), torch.tensor([[[0.5, 0.5]]]).log())
    up, down = math.log(1.5), math.log(0.5)
    mean = 0.75 * up + 0.25 * down
    assert float(signal) == pytest.approx(mean)
    assert float(noise) == pytest.approx(math.sqrt(0.75 * (up - mean) ** 2 + 0.25 * (down - mean) ** 2))


@given(logits, logits, st.floats(-5, 5))
@settings(max_examples=60)
def test_the_signal_is_a_divergence_that_constants_do_not_change(one: Tensor, other: Tensor, constant: float) -> None:
    signal, noise = shift(one, other)
    assert float(signal) >= 0
    moved = shift(one + constant, other)
    assert float(moved[0]) == pytest.approx(float(signal), abs=1e-4)
    assert float(moved[1]) == pytest.approx(float(noise), abs=1e-3)
    assert float(shift(one, one)[0]) == pytest.approx(0.0, abs=1e-6)


@given(st.floats(0, 9), st.floats(0, 9), st.floats(0, 5))
def test_the_scale_grows_with_signal_falls_with_noise_and_keeps_its_bound(
    signal: float, noise: float, most: float
) -> None:
    def at(s: float, n: float) -> float:
        return float(scale(torch.tensor(s), torch.tensor(n), most))

    assert 0 <= at(signal, noise) <= most + 1e-6
    assert at(signal + 1, noise) >= at(signal, noise) - 1e-6
    assert at(signal, noise + 1) <= at(signal, noise) + 1e-6
    assert at(0.0, noise) == 0


def test_a_word_that_is_ruled_out_with_evidence_says_nothing() -> None:
    signal, noise = shift(torch.tensor([[[0.0, -torch.inf]]]), torch.tensor([[[0.0, 0.0]]]))
    assert float(signal) == pytest.approx(math.log(2))
    assert float(noise) == pytest.approx(0.0)


def test_trust_falls_only_where_the_evidence_speaks_against_a_word() -> None:
    found = Grounds(torch.zeros(1, 3), torch.tensor([[math.log(4), 0.0, math.log(0.25)]]))
    assert found.trust_BN.tolist() == [[1.0, 1.0, pytest.approx(0.25)]]


# A whole checkpoint.


def contrasted(tmp_path: Path, name: str, most: float) -> Contrasted:
    network = Network(load_network(write(tmp_path / name, name)), block_length=4)
    return Contrasted(Checkpoint(network, DecodeOptions(caching="none" if name != "sdar" else "prefix")), most=most)


@pytest.mark.parametrize("name", ["llada", "sdar"])
def test_logits_lie_beyond_those_with_evidence_by_the_scale(tmp_path: Path, name: str) -> None:
    long, short = cases(name)["x"][0, :11].tolist(), cases(name)["x"][0, :3].tolist()
    model = contrasted(tmp_path, name, 1.5)
    plain = Checkpoint(model.model.network, DecodeOptions(caching="none"))
    canvas = blank(1, 9)
    with_BNV, without_BNV = (plain.predict(plain.prefill([each]), canvas) for each in (long, short))
    got = model.predict(model.prefill([long, short]), canvas)
    seen = slice(0, 1) if name == "sdar" else slice(0, 9)  # 11 prompt columns leave one slot to the block in work
    w = scale(*shift(with_BNV, without_BNV), 1.5)[..., None]
    want = without_BNV + (1 + w) * (with_BNV - without_BNV)
    assert float((got - want)[:, seen].abs().max()) < 1e-4


def test_without_a_difference_nothing_changes_and_nothing_is_grounded(tmp_path: Path) -> None:
    model = contrasted(tmp_path, "llada", 3.0)
    row = cases("llada")["x"][0, :6].tolist()
    state, canvas = model.prefill([row, row]), blank(1)
    plain = Checkpoint(model.model.network, DecodeOptions(caching="none"))
    assert torch.allclose(model.predict(state, canvas), plain.predict(plain.prefill([row]), canvas), atol=1e-5)
    found = grounds(state, torch.zeros(1, 12, dtype=torch.long))
    assert float(found.nats_BN.abs().max()) < 1e-5
    assert float((1 - found.trust_BN).abs().max()) < 1e-4


def test_grounds_are_those_of_the_pass_that_last_saw_the_slot_masked(tmp_path: Path) -> None:
    model = contrasted(tmp_path, "llada", 0.0)
    rows = [cases("llada")["x"][0, :9].tolist(), cases("llada")["x"][0, :2].tolist()]
    state, canvas = model.prefill(rows), blank(1)
    canvas[0, 0] = 5
    model.predict(state, canvas)
    assert state.grounds_BN is not None
    first = state.grounds_BN.clone()
    assert float(first[0, 0]) == 0
    assert bool((first[0, 1:] > 0).all())
    canvas = canvas.clone()
    canvas[0, 1] = 7
    model.predict(state, canvas)
    assert float(state.grounds_BN[0, 1]) == float(first[0, 1])
    assert not torch.equal(state.grounds_BN[0, 2:], first[0, 2:])
    assert MASK in canvas


PROMPT = Prompt("Who built it?", (Evidence("The lighthouse was built by Mira Holt in 1871."),))


@pytest.mark.parametrize("name", ["llada", "sdar"])
def test_a_generator_that_leans_tells_how_much_each_token_rests_on_the_evidence(tmp_path: Path, name: str) -> None:
    where = str(checkpoint(tmp_path, name))
    options = {"answer_tokens": 8, "threshold": 0.3}
    leaning = CheckpointGenerator.load(where, device="cpu", options=GeneratorOptions(lean=1.0, **options))
    plain = CheckpointGenerator.load(where, device="cpu", options=GeneratorOptions(**options))
    draft = finish(leaning.draft(PROMPT, candidates=2, max_passes=4))[0]
    assert isinstance(draft, WrittenDraft)
    assert len(draft.grounds) == len(draft.ids) == len(draft.sure)
    assert all(nats >= 0 for nats in draft.grounds)
    assert any(nats > 0 for nats in draft.grounds)
    assert all(0 <= sure <= 1 for sure in draft.sure)
    bare = Prompt(PROMPT.question)
    mine, theirs = (finish(each.draft(bare, max_passes=4))[0] for each in (leaning, plain))
    assert isinstance(mine, WrittenDraft)
    assert (mine.text, mine.grounds) == (theirs.text, ())


def test_leaning_needs_a_mask_and_a_number_that_is_not_negative(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lean=-1"):
        GeneratorOptions(lean=-1)
    with pytest.raises(ValueError, match="needs a model with a mask"):
        CheckpointGenerator.load(str(gemma_checkpoint(tmp_path)), device="cpu", options=GeneratorOptions(lean=1.0))
