"""Native networks and the one loop against the numbers of the official code, on tiny random weights."""

from pathlib import Path

import pytest
import torch
from remask.dllm.checkpoints.denoiser import Checkpoint, DecodeOptions
from remask.dllm.checkpoints.load import load_network
from remask.dllm.checkpoints.network import Network
from remask.dllm.checkpoints.reuse import Caching
from remask.dllm.denoise import denoise
from remask.dllm.policy import Policy
from remask.dllm.sample import Confidence, Sampling, from_logits
from torch import Tensor

from .folders import MASK, blank, cases, config, drawn, more, more_cases, prompts, write


def network(tmp_path: Path, name: str, *, dtype: str = "float32", shards: int = 1) -> Network:
    block_length = 4 if name in ("llada2", "llada21", "sdar") else None
    return Network(load_network(write(tmp_path / name, name, shards=shards), dtype=dtype), block_length=block_length)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("llada", 0.0), ("dream", 0.0), ("lladamoe", 2e-6), ("sdar", 2e-6), ("llada2", 2e-6), ("llada21", 2e-6)],
)
def test_logits_equal_the_official_ones(tmp_path: Path, name: str, tolerance: float) -> None:
    golden = cases(name)
    with torch.inference_mode():
        logits = network(tmp_path, name, shards=3).logits(golden["x"])
    assert float((logits - golden["logits"]).abs().max()) <= tolerance


def test_left_padding_is_seen_by_nobody_and_shifts_nothing_in_llada(tmp_path: Path) -> None:
    golden = cases("llada")
    valid = golden["am"].bool()
    with torch.inference_mode():
        logits = network(tmp_path, "llada").logits(golden["x"], valid)
    assert float((logits - golden["logits_pad"])[valid].abs().max()) <= 1e-6


@pytest.mark.parametrize("name", ["llada", "dream", "lladamoe", "sdar", "llada2"])
def test_bfloat16_stays_close_to_the_official_float32(tmp_path: Path, name: str) -> None:
    golden = cases(name)
    with torch.inference_mode():
        logits = network(tmp_path, name, dtype="bfloat16").logits(golden["x"])
    # The median position: rounding may send a token to another expert, and that token then differs at large.
    error = (logits - golden["logits"]).norm(dim=-1) / golden["logits"].norm(dim=-1)
    assert float(error.median()) < 0.03


MORE = [(name, seed) for name, case in more().items() for seed in case["seeds"]]


def like(tmp_path: Path, name: str, seed: int, dtype: str = "float32") -> Network:
    """The network of a further case."""
    case = more()[name]
    fields = config(case["family"], **case["config"])
    folder = write(tmp_path / name, case["family"], tensors=drawn(case["shapes"], seed), fields=fields, shards=2)
    return Network(load_network(folder, dtype=dtype), block_length=case["block_length"])


@pytest.mark.parametrize(("name", "seed"), MORE)
def test_few_key_heads_long_prompts_and_padding_give_the_official_logits(tmp_path: Path, name: str, seed: int) -> None:
    golden = more_cases(f"{name}.{seed}")
    valid = golden.get("valid", torch.ones_like(golden["x"])).bool()
    with torch.inference_mode():
        logits = like(tmp_path, name, seed).logits(golden["x"], valid)[:, -8:]
    assert float((logits - golden["logits"]).abs().max()) <= 4e-6


@pytest.mark.parametrize("family", ["llada", "dream", "lladamoe", "sdar", "llada2", "llada21"])
def test_bfloat16_strays_no_further_from_float32_than_the_official_code_does(tmp_path: Path, family: str) -> None:
    golden = more_cases(f"{family}.usual.3")
    exact, official = golden["logits"], golden["bfloat16"].float()
    with torch.inference_mode():
        logits = like(tmp_path, f"{family}.usual", 3, "bfloat16").logits(golden["x"])[:, -8:]
    # The median position: rounding may send a token to another expert, and that token then differs at large.
    ours, theirs = (float(((x - exact).norm(dim=-1) / exact.norm(dim=-1)).median()) for x in (logits, official))
    assert 0 < ours <= 1.15 * theirs


def decode(
    model: Checkpoint, rows: list[list[int]], policy: Policy, confidence: Confidence = "probability", *, slots: int = 12
) -> Tensor:
    """Prompts and answers side by side, as the official samplers give them."""
    propose = from_logits(model, model.prefill(rows), Sampling(confidence=confidence))
    run = denoise(propose, blank(len(rows), slots), mask_id=MASK, policy=policy)
    while True:
        try:
            next(run)
        except StopIteration as stop:
            answers: Tensor = stop.value.canvas_BN
            return torch.cat((torch.tensor(rows), answers), 1)


@pytest.mark.parametrize(
    ("case", "block_length", "steps", "guidance"),
    [
        ("gen_block4_steps6", 4, 6, 0.0),
        ("gen_block12_steps12", None, 12, 0.0),
        ("gen_block12_steps5", None, 5, 0.0),
        ("gen_cfg", 4, 6, 1.5),
    ],
)
def test_llada_decodes_token_for_token_as_its_official_sampler(
    tmp_path: Path, case: str, block_length: int | None, steps: int, guidance: float
) -> None:
    model = Checkpoint(network(tmp_path, "llada"), DecodeOptions(caching="none", guidance=guidance))
    policy = Policy(commit="schedule", steps=steps, block_length=block_length)
    assert torch.equal(decode(model, prompts("llada"), policy), cases("llada")[case])


@pytest.mark.parametrize(
    ("case", "confidence"),
    [("gen_maskgit_plus", "probability"), ("gen_topk_margin", "margin"), ("gen_entropy", "entropy")],
)
def test_dream_decodes_token_for_token_as_its_official_sampler(
    tmp_path: Path, case: str, confidence: Confidence
) -> None:
    model = Checkpoint(network(tmp_path, "dream"), DecodeOptions(caching="none"))
    policy = Policy(commit="schedule", steps=5, shares="time")
    assert torch.equal(decode(model, prompts("dream"), policy, confidence), cases("dream")[case])


@pytest.mark.parametrize("name", ["llada", "dream"])
def test_a_row_decodes_in_a_padded_batch_as_it_does_alone(tmp_path: Path, name: str) -> None:
    model = Checkpoint(network(tmp_path, name), DecodeOptions(caching="none"))
    rows = [prompts(name)[0], prompts(name)[1][:3], prompts(name)[1][:1]]
    policy = Policy(commit="schedule", steps=4)
    canvases = [decode(model, [row], policy)[0, -12:] for row in rows]
    propose = from_logits(model, model.prefill(rows))
    run = denoise(propose, blank(3), mask_id=MASK, policy=policy)
    steps = list(run)
    assert torch.equal(steps[-1].canvas_BN, torch.stack(canvases))


def edited_as_llada21_says(net: Network, prompt: list[int], slots: int, threshold: float, edit: float) -> list[int]:
    """LLaDA2.1's decoding as its report tells it, in blocks of four, one full pass after the other, without any of our loop:
    commit what is surer than the threshold or else the surest; in the same pass replace words of the block that another is
    surer for; look again at a full block until nothing changes, at most 16 times."""
    x = torch.tensor([*prompt, *[MASK] * slots])
    for start in range(len(prompt) // 4 * 4, len(x), 4):
        here, looked = torch.arange(start, start + 4), 0
        while True:
            masked = x[here] == MASK
            looked += not bool(masked.any())
            if looked > 16:
                break
            with torch.inference_mode():
                all_logits = net.logits(x[None, : start + 4])
            logits = all_logits[0, start:].clone()
            logits[:, MASK] = -torch.inf
            sure, word = logits.softmax(-1).max(-1)
            commit = masked & (sure > threshold)
            if bool(masked.any()) and not bool(commit.any()):
                commit[torch.where(masked, sure, -1.0).argmax()] = True
            changed = ~masked & (here >= len(prompt)) & (sure > edit) & (word != x[here])
            x[here] = torch.where(commit | changed, word, x[here])
            if not bool(masked.any()) and not bool(changed.any()):
                break
    answer: list[int] = x[len(prompt) :].tolist()
    return answer


@pytest.mark.parametrize("caching", ["none", "prefix"])
def test_llada21_edits_as_its_report_says(tmp_path: Path, caching: Caching) -> None:
    net = network(tmp_path, "llada21")
    net._head.register_forward_hook(lambda head, given, logits: logits * 6)
    row, edits = cases("llada21")["x"][0].tolist(), 0
    for length, threshold, edit in ((3, 0.5, 0.3), (6, 0.3, 0.2), (8, 0.9, 0.4), (6, 0.2, 0.9)):
        slots = 12 + -(length + 12) % 4
        model = Checkpoint(net, DecodeOptions(caching=caching))
        state, canvas = model.prefill([row[:length]]), blank(1, slots)
        policy = Policy(commit="threshold", threshold=threshold, edit_above=edit)
        blocks = model.blocks(state, 1, slots)
        run = denoise(from_logits(model, state, held=True), canvas, mask_id=MASK, policy=policy, block_BN=blocks)
        steps = list(run)
        edits += sum(int(step.edited_BN.sum()) for step in steps if step.edited_BN is not None)
        assert steps[-1].canvas_BN[0].tolist() == edited_as_llada21_says(net, row[:length], slots, threshold, edit)
    assert edits > 0
