"""The loop of uniform diffusion: no slot is ever masked; what a pass doesn't keep gets a random word and is seen again.

For models that were trained to denoise random words (DiffusionGemma). `denoise.py` is the loop for models with a mask.
Knows logits, words and a policy. Does not know models or text. What a run remembers lives in the run.
"""

# B batch, N canvas slots, V vocabulary.

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from .denoise import Denoised, Run, Step
from .errors import GenerationFailed
from .noise import RowNoise, Seed
from .policy import count_unchanged, within_nats

State = TypeVar("State", contravariant=True)


class Uniform(Protocol[State]):
    """A model that sees a canvas full of words, some of them random."""

    @property
    def words(self) -> int:
        """How many words there are to draw from."""
        ...

    def predict(self, state: State, canvas_BN: Tensor) -> Tensor:
        """`logits_BNV`, each slot's own."""
        ...

    def hear(self, state: State, logits_BNV: Tensor) -> None:
        """Takes what the loop made of the logits, for the next pass to be conditioned on."""
        ...


class Draws(Protocol):
    """Where random words come from."""

    def ids(self, slots: int, vocabulary: int) -> Tensor: ...

    def drawn(self, p_BNV: Tensor) -> Tensor: ...


class SeededDraws:
    """Words of one row depend on its seed alone."""

    def __init__(self, seed: Seed, rows: int, *, device: torch.device | str = "cpu") -> None:
        self._canvas = RowNoise(seed, rows, stream="canvas", device=device)
        self._words = RowNoise(seed, rows, stream="words", device=device)

    def ids(self, slots: int, vocabulary: int) -> Tensor:
        return self._canvas.ids(slots, vocabulary)

    def drawn(self, p_BNV: Tensor) -> Tensor:
        return self._words.drawn(p_BNV)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenoisePolicy:
    """The defaults are those of DiffusionGemma in transformers 5.24."""

    max_passes: int = 48
    entropy_bound: float = 0.1
    """Nats that the words kept together may have in all, the least sure one apart (EB-Sampler, arXiv 2505.24857)."""
    warmest: float = 0.8
    """Temperature towards which the first pass starts; it falls by equal steps towards `coolest`."""
    coolest: float = 0.4
    stable_passes: int = 1
    """Stop a row whose likeliest words were the same for so many passes; 0: don't ask for that."""
    calm_below: float = 0.005
    """Nats a slot has on average, at most, where a row is stopped."""

    def __post_init__(self) -> None:
        if self.max_passes < 1:
            raise ValueError(f"max_passes={self.max_passes!r} is too small. Give at least 1")
        if not 0 < self.coolest <= self.warmest:
            raise ValueError(f"coolest={self.coolest!r} is not between 0 and warmest={self.warmest!r}")
        for name in ("entropy_bound", "stable_passes", "calm_below"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}={getattr(self, name)!r} is negative")

    def temperature(self, passes_left: int) -> float:
        """The temperature of a pass, given how many are left with it.

        >>> [round(RenoisePolicy(max_passes=2).temperature(left), 2) for left in (2, 1)]
        [0.8, 0.6]
        """
        return self.coolest + (self.warmest - self.coolest) * passes_left / self.max_passes


def renoise(
    model: Uniform[State],
    state: State,
    canvas_BN: Tensor,
    *,
    free_BN: Tensor,
    policy: RenoisePolicy | None = None,
    draws: Draws | None = None,
    seed: Seed = 0,
    adjust: Callable[[Tensor], Tensor] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Run:
    """Denoises the free slots of a canvas; the others never change, and what the free ones hold is not looked at.

    The order of a pass is DiffusionGemma's (`generate` in transformers 5.24): temperature, a drawn and a likeliest word for
    each slot, keep by entropy, random words in the others, stop. `adjust` changes logits before all that. A step shows the
    likeliest words, counts as `committed` what the pass newly kept, as re-masked what it no longer keeps, and as masked
    what it doesn't. The result's confidence is the model's own, before temperature.
    """
    if canvas_BN.shape != free_BN.shape or canvas_BN.ndim != 2:
        raise ValueError(
            f"free_BN is {tuple(free_BN.shape)!r}, the canvas {tuple(canvas_BN.shape)!r}. Both are [rows, slots]"
        )
    policy = policy or RenoisePolicy()
    draws = draws or SeededDraws(seed, canvas_BN.shape[0], device=canvas_BN.device)
    return _run(model, state, canvas_BN, free_BN, policy, draws, adjust or (lambda logits: logits), clock)


def _run(
    model: Uniform[State],
    state: State,
    given_BN: Tensor,
    free_BN: Tensor,
    policy: RenoisePolicy,
    draws: Draws,
    adjust: Callable[[Tensor], Tensor],
    clock: Callable[[], float],
) -> Run:
    (B, N), words = given_BN.shape, model.words
    zero_B = torch.zeros(B, dtype=torch.long, device=given_BN.device)
    done_B, passes_B, unchanged_B = ~free_BN.any(1), zero_B, zero_B
    now_BN = torch.where(free_BN, draws.ids(N, words), given_BN) if bool(free_BN.any()) else given_BN
    said_BN, sure_BN, before_BN = given_BN, torch.where(free_BN, 0.0, 1.0), None
    kept_BN, passes = torch.zeros_like(free_BN), 0
    while passes < policy.max_passes and not bool(done_B.all()):
        began, open_BN = clock(), free_BN & ~done_B[:, None]
        logits_BNV = _finite(adjust(model.predict(state, now_BN).float()))
        warm_BNV = logits_BNV / policy.temperature(policy.max_passes - passes)
        log_BNV = torch.log_softmax(warm_BNV, -1)
        drawn_BN, likeliest_BN = draws.drawn(log_BNV.exp().to(logits_BNV.dtype)), warm_BNV.argmax(-1)
        nats_BN = entropy(log_BNV)
        keep_BN = torch.where(open_BN, within_nats(nats_BN, open_BN, policy.entropy_bound), kept_BN)
        now_BN = torch.where(open_BN, torch.where(keep_BN, drawn_BN, draws.ids(N, words)), now_BN)
        said_BN = torch.where(open_BN, likeliest_BN, said_BN)
        own_BN = torch.softmax(logits_BNV, -1).gather(-1, said_BN[..., None].clamp(max=words - 1))[..., 0]
        sure_BN = torch.where(open_BN, own_BN, sure_BN)
        model.hear(state, warm_BNV)
        passes, passes_B = passes + 1, passes_B + ~done_B
        unchanged_B, before_BN = count_unchanged(said_BN, before_BN, unchanged_B), said_BN
        calm_B = nats_BN.masked_fill(~free_BN, 0).sum(1) / free_BN.sum(1).clamp(min=1) < policy.calm_below
        done_B = done_B | (calm_B & (unchanged_B >= policy.stable_passes)) | (passes == policy.max_passes)
        keep_BN = torch.where(done_B[:, None], free_BN, keep_BN)
        masked_B = (free_BN & ~keep_BN).sum(1)
        yield Step(passes, said_BN, keep_BN & ~kept_BN, kept_BN & ~keep_BN, masked_B, clock() - began)
        kept_BN = keep_BN
    return Denoised(said_BN, sure_BN, passes, passes_B)


def entropy(log_BNV: Tensor) -> Tensor:
    """Nats of distributions, given their logarithms; a word that is ruled out adds nothing.

    >>> entropy(torch.tensor([0.5, 0.5, 0.0]).log()).item()
    0.6931471824645996
    """
    return -(log_BNV.exp() * log_BNV.clamp(min=torch.finfo(log_BNV.dtype).min)).sum(-1)


def _finite(logits_BNV: Tensor) -> Tensor:
    if bool(torch.isnan(logits_BNV).any()):
        raise GenerationFailed("the model's logits are not numbers. Check its weights and its precision")
    return logits_BNV
