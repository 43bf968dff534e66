"""What is kept between passes: exact where attention is block-causal, as Fast-dLLM has it elsewhere."""

from pathlib import Path
from typing import Any

import pytest
import torch
from remask.dllm.checkpoints.denoiser import Checkpoint, DecodeOptions
from remask.dllm.checkpoints.load import load_network
from remask.dllm.checkpoints.network import Network
from remask.dllm.checkpoints.reuse import Caching
from remask.dllm.denoise import Step, denoise
from remask.dllm.policy import Policy
from remask.dllm.sample import from_logits
from torch import Tensor
from transformers import DynamicCache

from .folders import MASK, blank, cases, write

CLOSE = 3e-6


class Watched(Network):
    """Writes down how many columns every pass computed."""

    computed: list[tuple[int, int]]

    def columns(self, ids_BQ: Tensor, valid_BL: Tensor, **options: Any) -> Tensor:
        self.computed = [*getattr(self, "computed", []), (ids_BQ.shape[0], ids_BQ.shape[1])]
        return super().columns(ids_BQ, valid_BL, **options)


def model(tmp_path: Path, name: str, caching: Caching, *, block_length: int | None = 4) -> Checkpoint:
    folder = tmp_path / name
    network = Watched(load_network(folder if folder.is_dir() else write(folder, name)), block_length=4)
    return Checkpoint(network, DecodeOptions(caching=caching, block_length=block_length))


def prompt(name: str, *lengths: int) -> list[list[int]]:
    return [cases(name)["x"][0, :length].tolist() for length in lengths]


def decode(checkpoint: Checkpoint, prompts: list[list[int]], policy: Policy, *, slots: int = 12) -> list[Step]:
    state = checkpoint.prefill(prompts)
    canvas = blank(len(prompts), slots)
    blocks = checkpoint.blocks(state, *canvas.shape)
    return list(denoise(from_logits(checkpoint, state), canvas, mask_id=MASK, policy=policy, block_BN=blocks))


@pytest.mark.parametrize("name", ["sdar", "llada2"])
@pytest.mark.parametrize("lengths", [(6,), (4,), (1,), (3, 9, 6)])
def test_block_causal_decoding_with_kept_keys_is_decoding_without(
    tmp_path: Path, name: str, lengths: tuple[int, ...]
) -> None:
    plain, kept = (model(tmp_path, name, caching) for caching in ("none", "prefix"))
    for policy in (Policy(steps=8), Policy(commit="threshold", threshold=0.05)):
        expected, got = (decode(each, prompt(name, *lengths), policy) for each in (plain, kept))
        assert [s.canvas_BN.tolist() for s in got] == [s.canvas_BN.tolist() for s in expected]


@pytest.mark.parametrize("name", ["sdar", "llada2"])
def test_kept_keys_give_the_same_logits_whatever_was_filled_edited_or_masked_again(tmp_path: Path, name: str) -> None:
    plain, kept = (model(tmp_path, name, caching) for caching in ("none", "prefix"))
    states = [each.prefill(prompt(name, 6, 9)) for each in (plain, kept)]
    g = torch.Generator().manual_seed(5)
    canvas = blank(2)
    for _ in range(12):
        there = torch.randint(12, (2,), generator=g)
        canvas = canvas.clone()
        canvas[:, there] = torch.where(
            torch.rand(2, 2, generator=g) < 0.7, torch.randint(120, (2, 2), generator=g), MASK
        )
        blocks = plain.blocks(states[0], 2, 12)
        masked = canvas == MASK
        first = blocks.masked_fill(~masked, 99).amin(1, keepdim=True)
        want, got = (each.predict(state, canvas) for each, state in zip((plain, kept), states, strict=True))
        here = masked & (blocks == first)
        assert float((want - got)[here].abs().max()) <= CLOSE


def test_block_causal_passes_compute_the_block_in_work_and_what_changed(tmp_path: Path) -> None:
    kept = model(tmp_path, "sdar", "prefix")
    decode(kept, prompt("sdar", 6), Policy(steps=8), slots=6)
    # Columns 0-3 once; then 4-7 (prompt tail and two slots), then with 8-11 once, then 8-11.
    assert kept.network.computed == [(1, 4), (1, 4), (1, 4), (1, 8), (1, 4), (1, 4), (1, 4)]  # type: ignore[attr-defined]


def test_the_last_pass_of_a_request_looks_at_every_block(tmp_path: Path) -> None:
    for name in ("sdar", "llada"):
        plain, kept = (model(tmp_path, name, caching) for caching in ("none", "prefix"))
        state = kept.prefill(prompt(name, 6))
        state.last_pass = 2
        first = kept.predict(state, blank(1))
        assert torch.equal(first[:, 8:] == 0, torch.full_like(first[:, 8:], name == "sdar", dtype=torch.bool))
        want = plain.predict(plain.prefill(prompt(name, 6)), blank(1))
        assert float((kept.predict(state, blank(1)) - want).abs().max()) <= CLOSE


def filled(*, upto: int) -> Tensor:
    canvas = blank(1)
    canvas[:, :upto] = torch.arange(10, 10 + upto)
    return canvas


@pytest.mark.parametrize("name", ["llada", "dream", "lladamoe"])
@pytest.mark.parametrize("caching", ["prefix", "dual"])
def test_where_nothing_has_changed_kept_keys_change_nothing(tmp_path: Path, name: str, caching: Caching) -> None:
    plain, kept = model(tmp_path, name, "none"), model(tmp_path, name, caching)
    state = kept.prefill(prompt(name, 6))
    want = plain.predict(plain.prefill(prompt(name, 6)), filled(upto=5))
    first, second = kept.predict(state, filled(upto=5)), kept.predict(state, filled(upto=5))
    assert float((first - want).abs().max()) <= CLOSE
    assert float((second - want)[:, 4:8].abs().max()) <= CLOSE


def _native(checkpoint: Checkpoint, ids: Tensor, at: Tensor, seen: int, cache: DynamicCache) -> Tensor:
    """Logits of columns `at`, by transformers' own cache."""
    trunk, head = checkpoint.network._trunk, checkpoint.network._head
    mask = torch.zeros(1, 1, len(at), seen)
    out = trunk(input_ids=ids[:, at], attention_mask=mask, position_ids=at[None], cache=cache, use_cache=True)
    logits: Tensor = head(out.last_hidden_state)
    return logits


@pytest.mark.parametrize("caching", ["prefix", "dual"])
def test_llada_reuses_keys_as_a_plain_cache_of_transformers_does(tmp_path: Path, caching: Caching) -> None:
    """Keys from the canvas as it was when the block began; then only the block (dual) or all from it on (prefix)."""
    kept = model(tmp_path, "llada", caching)
    rows = prompt("llada", 6)
    state = kept.prefill(rows)
    before, after = filled(upto=4), filled(upto=6)
    kept.predict(state, before)
    got = kept.predict(state, after)
    block = torch.arange(10, 14)  # columns of slots 4 to 7
    again = block if caching == "dual" else torch.arange(10, 18)
    outside = torch.tensor([c for c in range(18) if c not in again.tolist()])
    cache, held = DynamicCache(), DynamicCache()
    with torch.inference_mode():
        _native(kept, torch.cat((torch.tensor(rows), before), 1), torch.arange(18), 18, cache)
        for number, layer in enumerate(cache.layers):
            held.update(layer.keys[:, :, outside], layer.values[:, :, outside], number)
        want = _native(kept, torch.cat((torch.tensor(rows), after), 1), again, 18, held)
    assert float((got[:, 4:8] - want[:, :4]).abs().max()) <= CLOSE


@pytest.mark.parametrize("name", ["llada", "dream"])
@pytest.mark.parametrize("caching", ["prefix", "dual"])
def test_rows_on_different_blocks_get_what_they_get_alone(tmp_path: Path, name: str, caching: Caching) -> None:
    kept = model(tmp_path, name, caching)
    policy = Policy(commit="threshold", threshold=0.06)
    rows = prompt(name, 6, 3, 5)
    alone = [decode(kept, [row], policy)[-1].canvas_BN[0].tolist() for row in rows]
    assert decode(kept, rows, policy)[-1].canvas_BN.tolist() == alone


@pytest.mark.parametrize(("caching", "columns"), [("prefix", [18, 12, 18, 8, 18, 4]), ("dual", [18, 4, 18, 4, 18, 4])])
def test_llada_computes_all_columns_when_a_block_begins_and_few_after(
    tmp_path: Path, caching: Caching, columns: list[int]
) -> None:
    kept = model(tmp_path, "llada", caching)
    decode(kept, prompt("llada", 6), Policy(steps=6))
    assert [c for _, c in kept.network.computed] == columns  # type: ignore[attr-defined]


def test_a_change_outside_the_block_computes_all_keys_anew(tmp_path: Path) -> None:
    plain, kept = model(tmp_path, "llada", "none"), model(tmp_path, "llada", "dual")
    state = kept.prefill(prompt("llada", 6))
    kept.predict(state, filled(upto=4))
    canvas = filled(upto=6)
    canvas[0, 1] = 99
    want = plain.predict(plain.prefill(prompt("llada", 6)), canvas)
    assert float((kept.predict(state, canvas) - want).abs().max()) <= CLOSE


# The prompt's own keys.


def by_two_blocks(checkpoint: Checkpoint, ids: Tensor, prompt: int) -> Tensor:
    """Logits of all columns where the prompt's see the prompt and the others all, in one pass of transformers' network."""
    L = ids.shape[1]
    mask = torch.zeros(1, 1, L, L)
    mask[..., :prompt, prompt:] = torch.finfo(torch.float32).min
    trunk, head = checkpoint.network._trunk, checkpoint.network._head
    with torch.inference_mode():
        hidden = trunk(input_ids=ids, attention_mask=mask, position_ids=torch.arange(L)[None]).last_hidden_state
        logits: Tensor = head(hidden)
    return torch.cat((logits[:, :1], logits[:, :-1]), 1) if checkpoint.network.family.shifted else logits


def test_a_prompt_read_by_itself_is_exact_where_it_does_not_see_the_canvas(tmp_path: Path) -> None:
    kept = model(tmp_path, "llada", "prompt", block_length=None)
    state, rows = kept.prefill(prompt("llada", 6)), torch.tensor(prompt("llada", 6))
    for upto in (0, 3, 7):
        want = by_two_blocks(kept, torch.cat((rows, filled(upto=upto)), 1), 6)[:, 6:]
        assert float((kept.predict(state, filled(upto=upto)) - want).abs().max()) <= CLOSE


def test_with_shifted_outputs_the_prompts_last_column_goes_with_the_canvas(tmp_path: Path) -> None:
    kept = model(tmp_path, "dream", "prompt", block_length=None)
    state, rows = kept.prefill(prompt("dream", 6)), torch.tensor(prompt("dream", 6))
    want = by_two_blocks(kept, torch.cat((rows, blank(1)), 1), 5)[:, 6:]
    assert float((kept.predict(state, blank(1)) - want).abs().max()) <= CLOSE


@pytest.mark.parametrize(("name", "columns"), [("llada", [6, 12, 4, 8, 4, 8, 4]), ("dream", [5, 13, 5, 9, 5, 9, 5])])
def test_a_prompt_read_by_itself_is_computed_once(tmp_path: Path, name: str, columns: list[int]) -> None:
    kept = model(tmp_path, name, "prompt")
    decode(kept, prompt(name, 6), Policy(steps=6))
    assert [c for _, c in kept.network.computed] == columns  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["llada", "dream"])
def test_rows_beside_others_get_what_they_get_alone_with_the_prompts_own_keys(tmp_path: Path, name: str) -> None:
    kept = model(tmp_path, name, "prompt")
    policy = Policy(commit="threshold", threshold=0.06)
    rows = prompt(name, 6, 3, 5)
    alone = [decode(kept, [row], policy)[-1].canvas_BN[0].tolist() for row in rows]
    assert decode(kept, rows, policy)[-1].canvas_BN.tolist() == alone


# Documents.


@pytest.mark.parametrize(("name", "caching"), [("sdar", "prefix"), ("llada2", "prefix"), ("llada", "prompt")])
def test_documents_read_once_give_the_same_logits_to_every_question(
    tmp_path: Path, name: str, caching: Caching
) -> None:
    network = model(tmp_path, name, caching).network
    kept = Checkpoint(network, DecodeOptions(caching=caching, block_length=4, document_bytes=10**7))
    plain = Checkpoint(network, DecodeOptions(caching=caching, block_length=4))
    assert kept.documents is not None
    documents = cases(name)["x"][0, :9].tolist()
    for number, question in enumerate(([7, 8], [9, 10, 11, 12, 13], [7, 8])):
        got = kept.predict(kept.prefill([documents + question], head=9), blank(1))
        if caching == "prompt":  # its documents don't see the question, with a cache or without
            fresh = Checkpoint(network, DecodeOptions(caching=caching, block_length=4, document_bytes=10**7))
            want = fresh.predict(fresh.prefill([documents + question], head=9), blank(1))
        else:
            want = plain.predict(plain.prefill([documents + question]), blank(1))
        assert float((got - want).abs().max()) <= CLOSE
        assert (kept.documents.hits, kept.documents.misses) == (number, 1)


def test_a_document_is_computed_once_and_its_keys_are_not_written_to(tmp_path: Path) -> None:
    network = model(tmp_path, "sdar", "prefix").network
    kept = Checkpoint(network, DecodeOptions(document_bytes=10**7))
    documents = cases("sdar")["x"][0, :8].tolist()
    kept.prefill([[*documents, 7, 8, 9, 10]], head=8)
    state = kept.prefill([[*documents, 11, 12, 13, 14]], head=8)
    assert network.computed == [(1, 8), (1, 4), (1, 4)]  # type: ignore[attr-defined]
    assert state.keys is not None
    assert kept.documents is not None
    held = kept.documents.find(torch.tensor(documents))
    assert held is not None
    before = held._keys[0].clone()
    with torch.inference_mode():
        state.keys._keys[0].zero_()
    assert torch.equal(held._keys[0], before)


def test_documents_keep_to_their_memory_and_the_least_used_goes_first(tmp_path: Path) -> None:
    network = model(tmp_path, "sdar", "prefix").network
    one = Checkpoint(network, DecodeOptions(document_bytes=10**7))
    one.prefill([[*list(range(8)), 9]], head=8)
    assert one.documents is not None
    size = one.documents.bytes
    kept = Checkpoint(network, DecodeOptions(document_bytes=2 * size))
    assert kept.documents is not None
    for first in (10, 20, 10, 30):
        kept.prefill([[*list(range(first, first + 8)), 9]], head=8)
        assert kept.documents.bytes <= 2 * size
    names = [kept.documents.find(torch.arange(first, first + 8)) is not None for first in (10, 20, 30)]
    assert names == [True, False, True]
    small = Checkpoint(network, DecodeOptions(document_bytes=size - 1))
    small.prefill([[*list(range(8)), 9]], head=8)
    assert small.documents is not None
    assert len(small.documents) == 0


def test_guidance_with_caching_is_refused() -> None:
    with pytest.raises(ValueError, match="needs caching='none'"):
        DecodeOptions(guidance=1.0)


def test_prompts_without_a_token_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing in the prompts"):
        model(tmp_path, "llada", "none").prefill([[]])
