"""How fast a network of random weights decodes: in full passes, with each kind of kept keys, and word by word.

All ways take turns in rounds, in an order that turns too, so that what else the machine does falls on all alike. A random
network has no confidence to go by, so the words of a pass are set by a schedule; what a trained one would commit is not said.
"""

import ctypes
import gc
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from ..denoise import denoise
from ..policy import Policy
from ..sample import from_logits
from .denoiser import Checkpoint, DecodeOptions
from .family import FAMILIES, Family
from .load import Loaded
from .network import Network
from .reuse import Caching

ShapeName = Literal["100m", "8b", "tiny"]
SHAPES: dict[ShapeName, dict[str, int]] = {
    "100m": {"hidden_size": 640, "layers": 12, "heads": 10, "intermediate_size": 1920, "words": 32_000},
    "8b": {"hidden_size": 4096, "layers": 32, "heads": 32, "intermediate_size": 12_288, "words": 126_464},
    "tiny": {"hidden_size": 64, "layers": 2, "heads": 4, "intermediate_size": 192, "words": 512},
}
"""LLaDA-8B's own, and its proportions at about 105 million parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to decode. `estimated`: one pass is timed, and counted as often as the way would make it."""

    name: str
    caching: Caching | Literal["words"]
    block_length: int | None = None
    tokens_a_pass: int = 1
    estimated: bool = False


def ways(tokens_a_pass: int, *, block_length: int = 8) -> list[Way]:
    """`block_length`: of the way that reads the prompt once; Fast-dLLM's caches get its own, 32."""
    return [
        Way(name="full passes, 1 token each", caching="none", estimated=True),
        Way(name="full passes", caching="none", tokens_a_pass=tokens_a_pass, estimated=True),
        Way(name="prefix cache", caching="prefix", block_length=32, tokens_a_pass=tokens_a_pass),
        Way(name="dual cache", caching="dual", block_length=32, tokens_a_pass=tokens_a_pass),
        Way(name="prompt read once", caching="prompt", block_length=block_length, tokens_a_pass=tokens_a_pass),
        Way(name="word by word", caching="words"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One answer. `prefill_seconds`: reading the prompt, where a way reads it apart; `passes` after that."""

    prefill_seconds: float
    decode_seconds: float
    passes: int
    cache_bytes: int = 0

    @property
    def seconds(self) -> float:
        return self.prefill_seconds + self.decode_seconds


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A network of random weights, as LLaDA and, the same weights, as a model that writes word by word."""

    network: Network
    words: LlamaForCausalLM
    parameters: int
    weight_bytes: int


def subject(
    shape: ShapeName, *, dtype: torch.dtype, device: str, positions: int, compile_trunk: bool = False
) -> Subject:
    """`compile_trunk`: by torch.compile, with CUDA graphs where there are any."""
    sizes = SHAPES[shape]
    config = LlamaConfig(
        vocab_size=sizes["words"],
        hidden_size=sizes["hidden_size"],
        intermediate_size=sizes["intermediate_size"],
        num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"],
        num_key_value_heads=sizes["heads"],
        max_position_embeddings=positions,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    torch.manual_seed(0)
    with torch.device(device):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            model = LlamaForCausalLM(config).train(False).requires_grad_(False)
        finally:
            torch.set_default_dtype(before)
    if compile_trunk:
        model.model.forward = torch.compile(model.model.forward, mode="reduce-overhead", dynamic=False)
    base = FAMILIES["llada"]
    family = Family(name=base.name, mask_id=sizes["words"] - 1)
    parameters = list(model.parameters())
    return Subject(
        Network(Loaded(family, model, positions)),
        model,
        sum(p.numel() for p in parameters),
        sum(p.numel() * p.element_size() for p in parameters),
    )


def answer(it: Subject, way: Way, *, prompt: int, slots: int, seed: int = 0) -> Timed:
    """One answer of `slots` tokens after a random prompt of `prompt` tokens."""
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, it.network.words - 1, (1, prompt), generator=g)
    if way.caching == "words":
        return _word_by_word(it, ids, slots)
    model = Checkpoint(it.network, DecodeOptions(caching=way.caching, block_length=way.block_length))
    wait = _waiting(it.network.device)
    began = wait()
    state = model.prefill(ids.tolist())
    read = wait()
    canvas_BN = torch.full((1, slots), it.network.family.mask_id, device=it.network.device)
    passes = -(-slots // way.tokens_a_pass)
    if way.estimated:
        model.predict(state, canvas_BN)
        return Timed(prefill_seconds=read - began, decode_seconds=(wait() - read) * passes, passes=passes)
    policy = Policy(commit="schedule", steps=passes)
    run = denoise(
        from_logits(model, state),
        canvas_BN,
        mask_id=model.mask_id,
        policy=policy,
        block_BN=model.blocks(state, 1, slots),
    )
    made = sum(1 for _ in run)
    held = state.keys.bytes if state.keys is not None else 0
    return Timed(prefill_seconds=read - began, decode_seconds=wait() - read, passes=made, cache_bytes=held)


def _word_by_word(it: Subject, ids: torch.Tensor, slots: int) -> Timed:
    """transformers' own `generate`, with its cache; the prompt's share is timed by asking for one token."""
    ids, wait = ids.to(it.network.device), _waiting(it.network.device)
    named: dict[str, Any] = {"do_sample": False, "use_cache": True, "attention_mask": torch.ones_like(ids)}
    began = wait()
    it.words.generate(ids, max_new_tokens=1, min_new_tokens=1, **named)
    first = wait()
    it.words.generate(ids, max_new_tokens=slots, min_new_tokens=slots, **named)
    both = wait()
    whole, reading = both - first, first - began
    return Timed(prefill_seconds=reading, decode_seconds=max(1e-9, whole - reading), passes=slots)


def rounds(
    it: Subject, all_ways: Sequence[Way], *, prompt: int, slots: int, count: int, over: Callable[[], bool]
) -> dict[str, list[Timed]]:
    """Every way once a round, in turning order; one warm-up of a few tokens each before. Stops early, but after one whole
    round, once `over` says so."""
    for way in all_ways:
        answer(it, way, prompt=min(prompt, 16), slots=min(slots, 8))
    found: dict[str, list[Timed]] = {way.name: [] for way in all_ways}
    for number in range(count):
        turn = number % len(all_ways)
        for way in (*all_ways[turn:], *all_ways[:turn]):
            found[way.name].append(answer(it, way, prompt=prompt, slots=slots, seed=number))
        if over():
            break
    return found


def ratio(
    slow: Sequence[float], fast: Sequence[float], *, draws: int = 2000, seed: int = 0
) -> tuple[float, float, float]:
    """How many times as long `slow` takes, by the rounds' totals, with the 95% interval of drawing rounds again.

    >>> ratio([4.0, 4.0], [2.0, 2.0])
    (2.0, 2.0, 2.0)
    """
    pairs = np.array([slow, fast], dtype=np.float64)
    chance = np.random.default_rng(seed)
    picked = chance.integers(0, pairs.shape[1], size=(draws, pairs.shape[1]))
    drawn = pairs[0][picked].sum(1) / pairs[1][picked].sum(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(pairs[0].sum() / pairs[1].sum()), float(low), float(high)


@dataclass(slots=True)
class Peak:
    bytes: int = 0


@contextmanager
def peak_memory(device: torch.device) -> Iterator[Peak]:
    """Bytes in use at most while it runs, beyond what was in use before. On a CPU: of the whole process, so warm up before,
    or what libraries set up once is counted too."""
    peak = Peak()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        yield peak
        peak.bytes = torch.cuda.max_memory_allocated(device) - before
        return
    _give_back()
    before, done = _resident(), threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak.bytes = max(peak.bytes, _resident() - before)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _give_back() -> None:
    """Memory that was freed goes back to the system where the C library can do that, or using it again would look free."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system doesn't say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096
    except OSError:
        return 0


def bandwidth(device: torch.device, *, megabytes: int = 256) -> float:
    """Bytes a second that the memory gives when it is read from end to end, the best of five."""
    held = torch.ones(megabytes * 2**20 // 4, device=device)
    wait, times = _waiting(device), []
    for _ in range(5):
        began = wait()
        held.sum()
        times.append(wait() - began)
    return held.nbytes / min(times)


def pass_seconds(it: Subject, *, prompt: int, columns: int, passes: int = 10) -> float:
    """A pass over `columns` slots after a prompt that was read, the median."""
    model = Checkpoint(it.network, DecodeOptions(caching="prompt", block_length=columns))
    state = model.prefill(torch.zeros(1, prompt, dtype=torch.long).tolist())
    canvas_BN = torch.full((1, columns), model.mask_id, device=it.network.device)
    wait, times = _waiting(it.network.device), []
    for _ in range(passes + 2):
        began = wait()
        model.predict(state, canvas_BN)
        times.append(wait() - began)
    return statistics.median(times[2:])


def _waiting(device: torch.device) -> Callable[[], float]:
    """The time, once the device has done what it was given."""

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    return now
