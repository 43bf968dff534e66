"""The one denoising loop: look at a canvas, commit some slots, mask some again, until every row is done.

Knows canvases, proposals and policies. Does not know models or text. Everything a run remembers lives in the run.
"""

# B batch, N canvas slots.

import time
from collections.abc import Callable
from collections.abc import Generator as Steps
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .errors import GenerationFailed
from .noise import RowNoise, Seed
from .policy import (
    Policy,
    above_threshold,
    by_chance,
    count_unchanged,
    number_blocks,
    quota,
    surest,
    window,
    within_entropy,
    within_factor,
)
from .reopen import commit_chance, remdm_alpha, remdm_sigma, share_by_doubt, unsure_spans

_STREAM = 0


class Proposal(NamedTuple):
    """What a model would write in every slot, and how sure it is, 0..1. Slots that are not masked are not looked at."""

    ids_BN: Tensor
    confidence_BN: Tensor


Proposer = Callable[[Tensor], Proposal]
"""One pass of a model over `canvas_BN`. It must not propose the mask for a masked slot, nor change the canvas."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A pass. `canvas_BN` is how it left the canvas; every step has its own."""

    index: int
    """1 for the first pass."""
    canvas_BN: Tensor
    committed_BN: Tensor
    """Slots this pass filled, bool."""
    remasked_BN: Tensor
    """Slots this pass masked again, bool. A span re-masked before the pass may have been filled by it at once."""
    masked_B: Tensor
    """How many slots of each row are masked after this pass."""
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Denoised:
    """A finished run. `confidence_BN`: how sure the model was of each slot when it was committed; 1 where it was given,
    0 where it is still masked."""

    canvas_BN: Tensor
    confidence_BN: Tensor
    passes: int
    passes_B: Tensor
    """Passes each row needed; the others it sat through unchanged."""


Run = Steps[Step, None, Denoised]
"""Yields every pass, returns the end. Closing it stops before the next pass."""


def denoise(
    propose: Proposer,
    canvas_BN: Tensor,
    *,
    mask_id: int,
    policy: Policy,
    seed: Seed = 0,
    fixed_BN: Tensor | None = None,
    block_BN: Tensor | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Run:
    """Fills the masked slots of a canvas.

    `fixed_BN` marks slots that never change (a prefix, a skeleton, padding); by default all that are not masked. A slot
    that is given but not fixed may be masked again by the policy. `block_BN` numbers each slot's block where blocks
    don't begin at a row's first free slot. ValueError where a fixed slot is masked or shapes differ.

    Each pass commits at least one slot of every row that has a masked one. A row's result depends on its canvas, its
    seed and its proposals, not on the other rows.
    """
    if canvas_BN.ndim != 2:
        raise ValueError(f"a canvas has the shape [rows, slots], not {tuple(canvas_BN.shape)!r}")
    fixed_BN = canvas_BN != mask_id if fixed_BN is None else fixed_BN
    for name, given in (("fixed_BN", fixed_BN), ("block_BN", block_BN)):
        if given is not None and given.shape != canvas_BN.shape:
            raise ValueError(f"{name} is {tuple(given.shape)!r}, the canvas {tuple(canvas_BN.shape)!r}. Give it one a slot")
    if bool((fixed_BN & (canvas_BN == mask_id)).any()):
        raise ValueError(f"a fixed slot holds the mask id {mask_id!r}, so nothing could fill it. Give it a token")
    if canvas_BN.shape[1] and block_BN is None:
        block_BN = number_blocks(~fixed_BN, policy.block_length if policy.block_moves == "jump" else None)
    blocks_BN = torch.zeros_like(canvas_BN) if block_BN is None else block_BN
    return _run(_Run(propose, canvas_BN, mask_id, policy, seed, fixed_BN, blocks_BN), clock)


def _run(run: "_Run", clock: Callable[[], float]) -> Run:
    while run.working():
        began = clock()
        committed_BN, remasked_BN = run.step()
        yield Step(run.passes, run.canvas_BN, committed_BN, remasked_BN, run.masked().sum(1), clock() - began)
    return Denoised(run.canvas_BN, run.confidence_BN, run.passes, run.passes_B)


class _Run:
    """The state of one run. Tensors are replaced, never written into, so that a step keeps its own."""

    def __init__(
        self,
        propose: Proposer,
        canvas_BN: Tensor,
        mask_id: int,
        policy: Policy,
        seed: Seed,
        fixed_BN: Tensor,
        block_BN: Tensor,
    ) -> None:
        self.propose, self.mask_id, self.policy = propose, mask_id, policy
        self.canvas_BN, self.free_BN, self.block_BN = canvas_BN, ~fixed_BN, block_BN
        self.confidence_BN = torch.where(self.masked(), 0.0, 1.0)
        self.noise = RowNoise(seed, canvas_BN.shape[0], stream=_STREAM, device=canvas_BN.device)
        self.passes = 0
        zero_B = torch.zeros(canvas_BN.shape[0], dtype=torch.long, device=canvas_BN.device)
        self.passes_B, self.unchanged_B, self.rounds_B = zero_B, zero_B, zero_B
        self.stopped_B = zero_B.bool()
        self.steps = self._steps_in_block()
        self.at_B, self.spent_B = self._first_block(), zero_B  # the block a row works on, and passes spent there
        self.proposed_BN: Tensor | None = None

    # What is left to do.

    def masked(self) -> Tensor:
        return self.canvas_BN == self.mask_id

    def working(self) -> bool:
        return self.passes != self.policy.max_passes and bool(self._active().any())

    def _active(self) -> Tensor:
        """Rows with a masked slot, with a clock that still runs, or with spans to open again."""
        if not self.canvas_BN.shape[1]:
            return torch.zeros_like(self.stopped_B)
        left_B = self.masked().any(1) | self._doubted().any(1)
        if self.policy.remdm:
            left_B = left_B | (self.free_BN.any(1) & (self.spent_B < self.steps))
        return left_B & ~self.stopped_B

    def _doubted(self) -> Tensor:
        """What the `unsure` rule opens before the next pass, in rows that are full."""
        if self.policy.reopen != "unsure":
            return torch.zeros_like(self.free_BN)
        full_B = ~self.masked().any(1) & (self.rounds_B < self.policy.unsure_rounds) & ~self.stopped_B
        policy, held_BN = self.policy, self.free_BN & full_B[:, None]
        return unsure_spans(self.confidence_BN, held_BN, below=policy.unsure_below, reach=policy.unsure_reach)

    # One pass.

    def step(self) -> tuple[Tensor, Tensor]:
        """Gives the slots that were committed and those that were masked again."""
        active_B1 = self._active()[:, None]
        doubted_BN = self._doubted()
        self._reopen(doubted_BN)
        before_BN = self.masked() & active_B1
        ids_BN, confidence_BN = self._look(before_BN)
        committed_BN = self._commit(ids_BN, confidence_BN, before_BN)
        again_BN = self._remdm(active_B1 & self.free_BN & ~before_BN & ~self.masked())
        self.passes += 1
        self.passes_B = self.passes_B + active_B1[:, 0]
        self._move(active_B1[:, 0])
        return committed_BN, doubted_BN | again_BN

    def _look(self, masked_BN: Tensor) -> Proposal:
        ids_BN, confidence_BN = self.propose(self.canvas_BN)
        if bool((masked_BN & ~torch.isfinite(confidence_BN)).any()):
            raise GenerationFailed("the model's confidence is not a number. Check its weights and its precision")
        if bool((masked_BN & (ids_BN == self.mask_id)).any()):
            raise GenerationFailed(f"the model proposed the mask id {self.mask_id!r}, which no pass could ever fill")
        return Proposal(ids_BN.to(self.canvas_BN), confidence_BN.to(self.confidence_BN))

    def _commit(self, ids_BN: Tensor, confidence_BN: Tensor, masked_BN: Tensor) -> Tensor:
        policy = self.policy
        open_BN = self._open(masked_BN)
        chosen_BN = self._choose(confidence_BN, open_BN, masked_BN)
        filled_BN = torch.where(masked_BN, ids_BN, self.canvas_BN)
        self.unchanged_B = count_unchanged(filled_BN, self.proposed_BN, self.unchanged_B)
        self.proposed_BN = filled_BN
        if policy.stable_passes is not None:
            self.stopped_B = self.stopped_B | (self.unchanged_B >= policy.stable_passes)
        if self.passes + 1 == policy.max_passes and not policy.leave_masks:
            self.stopped_B = torch.ones_like(self.stopped_B)
        chosen_BN = torch.where(self.stopped_B[:, None], masked_BN, chosen_BN)
        self.canvas_BN = torch.where(chosen_BN, ids_BN, self.canvas_BN)
        self.confidence_BN = torch.where(chosen_BN, confidence_BN, self.confidence_BN)
        return chosen_BN

    def _open(self, masked_BN: Tensor) -> Tensor:
        """The masked slots that the row's block allows."""
        here_BN = masked_BN & (self.block_BN == self.at_B[:, None])
        if self.policy.block_moves == "slide" and self.policy.block_length is not None:
            return window(here_BN, self.policy.block_length)
        return here_BN

    def _choose(self, confidence_BN: Tensor, open_BN: Tensor, masked_BN: Tensor) -> Tensor:
        policy, key_BN = self.policy, confidence_BN
        least_B = torch.ones_like(self.spent_B)
        if policy.steps is not None and policy.commit != "ancestral":
            here_B = (masked_BN & (self.block_BN == self.at_B[:, None])).sum(1)
            least_B = quota(here_B, self.steps - self.spent_B).clamp(min=1)
        if policy.commit == "random":
            key_BN = self.noise.uniform(open_BN)
        asked_BN = surest(key_BN, open_BN, least_B)
        if policy.commit == "threshold":
            return asked_BN | above_threshold(confidence_BN, open_BN, policy.threshold)
        if policy.commit == "factor":
            return asked_BN | within_factor(confidence_BN, open_BN, policy.factor)
        if policy.commit == "entropy":
            return asked_BN | within_entropy(confidence_BN, open_BN, policy.entropy_bound)
        if policy.commit == "ancestral":
            _, alpha_t_B, alpha_s_B, sigma_B = self._clock()
            drawn_BN = by_chance(self.noise.uniform(open_BN), open_BN, commit_chance(alpha_t_B, alpha_s_B, sigma_B))
            return torch.where(drawn_BN.any(1, keepdim=True), drawn_BN, asked_BN)
        return open_BN if policy.commit == "all" else asked_BN

    # Masking again.

    def _clock(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Time, alpha now, alpha after this pass, and sigma, of every row's block."""
        time_B = (1 - self.spent_B.double() / self.steps).clamp(min=0)
        next_B = (1 - (self.spent_B.double() + 1) / self.steps).clamp(min=0)
        alpha_t_B, alpha_s_B = remdm_alpha(self.policy, time_B), remdm_alpha(self.policy, next_B)
        return time_B, alpha_t_B, alpha_s_B, remdm_sigma(self.policy, time_B, alpha_t_B, alpha_s_B)

    def _remdm(self, held_BN: Tensor) -> Tensor:
        """`held_BN`: free slots that were committed before this pass."""
        if not self.policy.remdm:
            return torch.zeros_like(held_BN)
        held_BN = held_BN & (self.block_BN == self.at_B[:, None]) & ~self.stopped_B[:, None]
        sigma_B = self._clock()[3]
        chance_BN = sigma_B[:, None].expand(held_BN.shape)
        if self.policy.reopen == "conf":
            chance_BN = share_by_doubt(sigma_B, self.confidence_BN, held_BN)
        again_BN = held_BN & (self.noise.uniform(held_BN) < chance_BN)
        self._mask(again_BN)
        return again_BN

    def _reopen(self, doubted_BN: Tensor) -> None:
        """Masks the spans of a new round, and starts the rows' clocks again."""
        rows_B = doubted_BN.any(1)
        if not bool(rows_B.any()):
            return
        self._mask(doubted_BN)
        self.rounds_B = self.rounds_B + rows_B
        self.at_B = torch.where(rows_B, self._first_block(), self.at_B)
        self.spent_B = torch.where(rows_B, 0, self.spent_B)
        self.unchanged_B = torch.where(rows_B, 0, self.unchanged_B)

    def _mask(self, where_BN: Tensor) -> None:
        self.canvas_BN = self.canvas_BN.masked_fill(where_BN, self.mask_id)
        self.confidence_BN = self.confidence_BN.masked_fill(where_BN, 0.0)

    # Blocks.

    def _first_block(self) -> Tensor:
        """The lowest block with a masked slot. A full row stays at its last free block."""
        never = torch.iinfo(torch.long).max
        if not self.canvas_BN.shape[1]:
            return torch.zeros(self.canvas_BN.shape[0], dtype=torch.long, device=self.canvas_BN.device)
        first_B = self.block_BN.masked_fill(~self.masked(), never).amin(1)
        last_B = self.block_BN.masked_fill(~self.free_BN, -1).amax(1)
        return torch.where(first_B == never, last_B, first_B)

    def _steps_in_block(self) -> int:
        raise NotImplementedError

    def _move(self, active_B: Tensor) -> None:
        """On to the next block where this one is full and its clock, if it has one, has run down."""
        raise NotImplementedError
