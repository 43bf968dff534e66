"""From logits to proposals: which word each masked slot would get, and how sure the model is of it.

The confidence is taken from the model's own distribution, before temperature and top-p; taken after them, as Dream's code
does, it says nothing once the temperature is low (DreamLM/Dream issues 56, 72, 84).
"""

# B batch, N canvas slots, V vocabulary, M masked slots of one row.

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

import torch
from torch import Tensor

from .credit import Account, Credit
from .denoise import Proposal, Proposer
from .noise import RowNoise, Seed

State = TypeVar("State")
Confidence = Literal["probability", "margin", "entropy"]


class Denoiser(Protocol[State]):
    """A masked diffusion model at token level. It keeps nothing between calls: what a prompt gave is in the state."""

    @property
    def mask_id(self) -> int: ...

    def prefill(self, prompts: Sequence[Sequence[int]]) -> State:
        """Reads one prompt for every row, or one for all of them."""
        ...

    def predict(self, state: State, canvas_BN: Tensor) -> Tensor:
        """`logits_BNV`: what belongs in each slot itself (a model that predicts the next token shifts its logits first).
        Where only some slots can be committed, the state may say so by an attribute `computed_BN`, [B, N] bool."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a word is drawn from logits. The default takes the likeliest."""

    temperature: float = 0.0
    """0: the likeliest word; else Gumbel noise in float64, for in float32 it costs quality (LLaDA; arXiv 2409.02908)."""
    top_p: float = 1.0
    """Draw from the likeliest words that hold this much probability at the temperature (nucleus, arXiv 1904.09751)."""
    confidence: Confidence = "probability"
    """`probability` of the word (LLaDA); `margin` between the two likeliest (Dream's `topk_margin`); `entropy`, as
    exp(-H), which orders slots as Dream's `entropy` does and stays within 0..1."""
    forbidden: tuple[int, ...] = ()
    """Words that are never written; the mask never is (LLaDA's `logits_eos_inf` with the end of text here)."""
    forbidden_slots: int = 0
    """`forbidden` holds for so many slots from the canvas's first on; 0: for all of them (a least length of an answer, where
    ends are forbidden)."""
    reluctant: tuple[int, ...] = ()
    """Words that are committed only when nothing else is left, against ends that come too early (LLaDA's
    `confidence_eos_eot_inf`)."""

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise ValueError(f"temperature={self.temperature!r} is negative. 0 takes the likeliest word")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p={self.top_p!r} is not in (0, 1]. 1 leaves every word in")


def from_logits(
    denoiser: Denoiser[State],
    state: State,
    sampling: Sampling | Sequence[Sampling] | None = None,
    *,
    seed: Seed = 0,
    adjust: Callable[[Tensor, Tensor], Tensor] | None = None,
    held: bool = False,
    credit: Credit | None = None,
) -> Proposer:
    """The proposer of one run: a pass of the model, then a word for each masked slot, or with `held` for every slot. Make
    a new one for every run, for it holds the run's random numbers. `sampling`: one for all rows, or one for every row.
    `adjust` changes `logits_BNV` first, given the canvas: it may rule words out in some slots, but must leave one in each.
    `credit`: favour words that were the likeliest in earlier passes too."""
    noise: list[RowNoise] = []
    account = Account(credit) if credit else None

    def propose(canvas_BN: Tensor) -> Proposal:
        with torch.no_grad():
            logits_BNV = denoiser.predict(state, canvas_BN)
            logits_BNV = adjust(logits_BNV, canvas_BN) if adjust else logits_BNV
            logits_BNV = account.spent(logits_BNV, canvas_BN == denoiser.mask_id) if account else logits_BNV
        assert logits_BNV.shape[:2] == canvas_BN.shape, f"logits {logits_BNV.shape}, canvas {canvas_BN.shape}"
        settings = sampling if isinstance(sampling, Sequence) else [sampling or Sampling()] * len(canvas_BN)
        if not noise and any(each.temperature for each in settings):
            noise.append(RowNoise(seed, canvas_BN.shape[0], stream="words", device=logits_BNV.device))
        masked_BN = canvas_BN == denoiser.mask_id
        # A slot that was not looked at is proposed a word that nobody is sure of.
        ids_BN = canvas_BN.masked_fill(masked_BN, int(denoiser.mask_id == 0))
        confidence_BN = torch.where(masked_BN, 0.0, 1.0)
        computed_BN: Tensor | None = None if held else getattr(state, "computed_BN", None)
        asked_BN = masked_BN | held if computed_BN is None else masked_BN & computed_BN
        for row, (masked_N, each) in enumerate(zip(asked_BN, settings, strict=True)):
            logits_MV = _allowed(logits_BNV[row], each)[masked_N]
            drawn = each.temperature and noise
            uniform_MV = noise[0].uniform_words(masked_N, row, logits_MV.shape[1]) if drawn else None
            each = replace(each, forbidden=())
            ids_M, confidence_M = sample(logits_MV, each, mask_id=denoiser.mask_id, uniform_MV=uniform_MV)
            ids_BN[row, masked_N], confidence_BN[row, masked_N] = ids_M.to(ids_BN), confidence_M.to(confidence_BN)
        return Proposal(ids_BN, confidence_BN)

    return propose


def _allowed(logits_NV: Tensor, sampling: Sampling) -> Tensor:
    """A row's logits without what is forbidden, in its first slots or in all."""
    first = sampling.forbidden_slots or len(logits_NV)
    if not sampling.forbidden:
        return logits_NV
    return torch.cat((without(logits_NV[:first], sampling.forbidden), logits_NV[first:]))


def sample(
    logits_MV: Tensor, sampling: Sampling, *, mask_id: int, uniform_MV: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Words and confidences for slots. `uniform_MV` in [0, 1) is the randomness; without it the likeliest are taken."""
    kept_MV = without(logits_MV, sampling.forbidden)
    choosing_MV = without(kept_MV, (mask_id,))
    if uniform_MV is not None and sampling.temperature > 0:
        choosing_MV = nucleus(choosing_MV.double() / sampling.temperature, sampling.top_p)
        choosing_MV = choosing_MV - (-uniform_MV.log()).log()
    ids_M = choosing_MV.argmax(-1)
    return ids_M, confidence(without(kept_MV, sampling.reluctant), ids_M, sampling.confidence)


def confidence(logits_MV: Tensor, ids_M: Tensor, kind: Confidence) -> Tensor:
    """How sure a distribution is of the words, 0..1.

    >>> confidence(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), "probability").tolist()
    [0.5]
    """
    log_MV = torch.log_softmax(logits_MV.float(), -1)
    p_MV = log_MV.exp()
    p_M = p_MV.gather(-1, ids_M[:, None])[:, 0]
    if kind == "probability":
        return p_M
    # A word the distribution excludes is one that should wait, whatever the others are like.
    excluded_M = p_M == 0
    if kind == "margin":
        best_M2 = p_MV.topk(2, -1).values
        return (best_M2[:, 0] - best_M2[:, 1]).masked_fill(excluded_M, 0)
    return (p_MV * log_MV.clamp(min=-1e30)).sum(-1).exp().masked_fill(excluded_M, 0)


def without(logits_MV: Tensor, words: Sequence[int]) -> Tensor:
    """The logits with the words ruled out. A word outside the vocabulary is no logit, so nothing is to be done."""
    inside = [word for word in words if 0 <= word < logits_MV.shape[-1]]
    return logits_MV.index_fill(-1, torch.tensor(inside, device=logits_MV.device), -torch.inf) if inside else logits_MV


def nucleus(logits_MV: Tensor, top_p: float) -> Tensor:
    """The logits without the words outside the fewest likeliest ones that reach `top_p` together.

    >>> nucleus(torch.tensor([[0.5, 0.3, 0.2]]).log(), 0.6).exp().round(decimals=1).tolist()
    [[0.5, 0.30000001192092896, 0.0]]
    """
    if top_p >= 1:
        return logits_MV
    sorted_MV, order_MV = logits_MV.sort(dim=-1, descending=True, stable=True)
    p_MV = sorted_MV.softmax(-1)
    dropped_MV = (p_MV.cumsum(-1) - p_MV) >= top_p
    return logits_MV.masked_fill(torch.empty_like(dropped_MV).scatter(-1, order_MV, dropped_MV), -torch.inf)
