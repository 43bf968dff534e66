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
    after_end,
    beyond_quota,
    by_chance,
    count_unchanged,
    number_blocks,
    quota,
    quota_by_time,
    surest,
    to_edit,
    window,
)
from .remask import clock as remdm_clock
from .remask import commit_chance, share_by_doubt, sigma, unsure_spans


class Proposal(NamedTuple):
    """What a model would write in every slot, and how sure it is, 0..1. Slots that are not masked are looked at only by a
    policy that edits."""

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
    edited_BN: Tensor | None = None
    """Slots that held a word and got another, bool; None where the policy doesn't edit."""


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
    that is given but not fixed may be re-masked by the policy. `block_BN` numbers each slot's block where blocks
    don't begin at a row's first free slot. ValueError where a fixed slot is masked or shapes differ.

    Each pass commits at least one slot of every row that has a masked one (but for ReMDM in blocks, which first runs
    down the clock of a full block). A row's result depends on its canvas, its seed and its proposals, not on the other
    rows. The canvas that is handed in is left as it is.
    """
    if canvas_BN.ndim != 2:
        raise ValueError(f"a canvas has the shape [rows, slots], not {tuple(canvas_BN.shape)!r}")
    fixed_BN = canvas_BN != mask_id if fixed_BN is None else fixed_BN
    for name, given in (("fixed_BN", fixed_BN), ("block_BN", block_BN)):
        if given is not None and given.shape != canvas_BN.shape:
            raise ValueError(
                f"{name} is {tuple(given.shape)!r}, the canvas {tuple(canvas_BN.shape)!r}. Give it one a slot"
            )
    if bool((fixed_BN & (canvas_BN == mask_id)).any()):
        raise ValueError(f"a fixed slot holds the mask id {mask_id!r}, so nothing could fill it. Give it a token")
    if canvas_BN.shape[1] and block_BN is None:
        block_BN = number_blocks(~fixed_BN, policy.block_length if policy.block_moves == "jump" else None)
    blocks_BN = torch.zeros_like(canvas_BN) if block_BN is None else block_BN
    return _run(_Rows(propose, canvas_BN, mask_id, policy, seed, fixed_BN, blocks_BN), clock)


def _run(rows: "_Rows", clock: Callable[[], float]) -> Run:
    while rows.working():
        began = clock()
        committed_BN, remasked_BN = rows.step()
        masked_B, seconds = rows.masked().sum(1), clock() - began
        yield Step(rows.passes, rows.canvas_BN, committed_BN, remasked_BN, masked_B, seconds, rows.edited_BN)
    return Denoised(rows.canvas_BN, rows.confidence_BN, rows.passes, rows.passes_B)


class _Rows:
    """What a run remembers of its rows. Tensors are replaced, never written into, so that a step keeps its own."""

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
        self.noise = RowNoise(seed, canvas_BN.shape[0], stream="order", device=canvas_BN.device)
        self.passes = 0
        zero_B = torch.zeros(canvas_BN.shape[0], dtype=torch.long, device=canvas_BN.device)
        self.passes_B, self.unchanged_B, self.rounds_B, self.looked_B = zero_B, zero_B, zero_B, zero_B
        self.stopped_B = self.active_B = self.settling_B = zero_B.bool()
        self.edited_BN: Tensor | None = None
        self.doubted_BN = torch.zeros_like(self.free_BN)
        self.steps_B = self._steps_in_block()
        self.at_B, self.spent_B = self._next_block(zero_B), zero_B  # the block a row works on, passes spent on it
        self.proposed_BN: Tensor | None = None

    def masked(self) -> Tensor:
        return self.canvas_BN == self.mask_id

    def working(self) -> bool:
        """Whether any row has a masked slot, a clock that still runs, or spans to open again."""
        left_B = self.masked().any(1)
        if self.policy.remask == "unsure":
            self.doubted_BN = self._doubted()
            left_B = left_B | self.doubted_BN.any(1)
        if self.policy.remdm:
            left_B = left_B | (self.free_BN.any(1) & (self.spent_B < self.steps_B))
        left_B = left_B | self.settling_B
        self.active_B = left_B & ~self.stopped_B
        return self.passes != self.policy.max_passes and bool(self.active_B.any())

    def step(self) -> tuple[Tensor, Tensor]:
        """One pass. Gives the slots that were committed and those that were re-masked."""
        doubted_BN = self.doubted_BN
        if self.policy.remask == "unsure":
            self._reopen(doubted_BN)
        before_BN = self.masked() & self.active_B[:, None]
        proposal = self._look(before_BN)
        held_BN = self.active_B[:, None] & self.free_BN & ~before_BN
        committed_BN = self._commit(proposal, before_BN)
        again_BN = self._remdm(held_BN)
        if self.policy.edit_above is not None:
            self._edit(proposal, held_BN, before_BN, self.policy.edit_above)
        if self.policy.end_ids:
            self._end()
        self.passes += 1
        self.passes_B = self.passes_B + self.active_B
        self._move()
        return committed_BN, doubted_BN | again_BN

    def _look(self, masked_BN: Tensor) -> Proposal:
        ids_BN, confidence_BN = self.propose(self.canvas_BN)
        ids_BN, confidence_BN = ids_BN.to(self.canvas_BN), confidence_BN.to(self.canvas_BN.device)
        if bool((masked_BN & ~torch.isfinite(confidence_BN)).any()):
            raise GenerationFailed("the model's confidence is not a number. Check its weights and its precision")
        if bool((masked_BN & (ids_BN == self.mask_id)).any()):
            raise GenerationFailed(
                f"the model proposed the mask id {self.mask_id!r}, which fills nothing. Forbid it there"
            )
        return Proposal(ids_BN, confidence_BN)

    # Committing.

    def _commit(self, proposal: Proposal, masked_BN: Tensor) -> Tensor:
        policy = self.policy
        chosen_BN = self._choose(proposal.confidence_BN, masked_BN)
        if policy.stable_passes is not None:
            filled_BN = torch.where(masked_BN, proposal.ids_BN, self.canvas_BN)
            self.unchanged_B = count_unchanged(filled_BN, self.proposed_BN, self.unchanged_B)
            self.proposed_BN = filled_BN
            stable_B = self.active_B & (self.unchanged_B >= policy.stable_passes)
            # Beyond the block in work a model with kept keys may not have looked at all.
            chosen_BN = torch.where(stable_B[:, None], masked_BN & (self.block_BN == self.at_B[:, None]), chosen_BN)
            self.stopped_B = self.stopped_B | (stable_B & policy.remdm & ~(masked_BN & ~chosen_BN).any(1))
        if self.passes + 1 == policy.max_passes and not policy.leave_masks:
            chosen_BN, self.stopped_B = masked_BN, torch.ones_like(self.stopped_B)
        self.canvas_BN = torch.where(chosen_BN, proposal.ids_BN, self.canvas_BN)
        self.confidence_BN = torch.where(chosen_BN, proposal.confidence_BN.to(self.confidence_BN), self.confidence_BN)
        return chosen_BN

    def _choose(self, confidence_BN: Tensor, masked_BN: Tensor) -> Tensor:
        """What the policy commits of the masked slots, at least one a row wherever its block has one."""
        policy = self.policy
        here_BN = open_BN = masked_BN & (self.block_BN == self.at_B[:, None])
        if policy.block_moves == "slide" and policy.block_length is not None:
            open_BN = window(here_BN, policy.block_length)
        if policy.commit == "ancestral":
            now = remdm_clock(policy, self.spent_B, self.steps_B)
            drawn_BN = by_chance(self.noise.uniform(open_BN), open_BN, commit_chance(now, sigma(policy, now)))
            return drawn_BN | surest(confidence_BN, open_BN, (~drawn_BN.any(1)).long())
        asked_B = torch.ones_like(self.spent_B)
        if policy.steps is not None:
            asked_B = self._asked(here_BN.sum(1))
        key_BN = self.noise.uniform(open_BN) if policy.commit == "random" else confidence_BN
        return beyond_quota(policy, confidence_BN, open_BN) | surest(key_BN, open_BN, asked_B)

    def _asked(self, masked_B: Tensor) -> Tensor:
        """How many slots of its block the schedule asks of each row."""
        if self.policy.shares == "even":
            return quota(masked_B, self.steps_B - self.spent_B)
        asked_B, spent_B = quota_by_time(masked_B, self.spent_B, self.steps_B)
        self.spent_B = torch.where(self.active_B, spent_B, self.spent_B)
        return asked_B

    def _edit(self, proposal: Proposal, held_BN: Tensor, before_BN: Tensor, above: float) -> None:
        """Replaces words of the block in work. A block settles once it is full, until a pass has changed nothing in it or it
        was looked at as often as it may be."""
        here_BN = self.block_BN == self.at_B[:, None]
        sure_BN = proposal.confidence_BN.to(self.confidence_BN)
        changed_BN = to_edit(sure_BN, proposal.ids_BN.to(self.canvas_BN), self.canvas_BN, held_BN & here_BN, above)
        changed_BN = changed_BN & (proposal.ids_BN != self.mask_id)
        self.canvas_BN = torch.where(changed_BN, proposal.ids_BN, self.canvas_BN)
        self.confidence_BN = torch.where(changed_BN, sure_BN, self.confidence_BN)
        self.edited_BN = changed_BN
        was_full_B = self.active_B & ~(before_BN & here_BN).any(1)
        full_B = self.active_B & ~(self.masked() & here_BN).any(1)
        self.looked_B = torch.where(was_full_B, self.looked_B + 1, self.looked_B.masked_fill(full_B, 0))
        again_B = ~was_full_B | changed_BN.any(1)
        self.settling_B = full_B & again_B & (self.looked_B < self.policy.edit_passes) & ~self.stopped_B

    def _end(self) -> None:
        """Fills what follows a row's end, and is done with the row."""
        rest_BN = self.free_BN & after_end(self.canvas_BN, self.masked(), self.policy.end_ids)
        rest_BN = rest_BN & ~self.settling_B[:, None] & self.active_B[:, None]
        over_B = rest_BN.any(1) & ~self.masked().where(~rest_BN, False).any(1)
        rest_BN = rest_BN & over_B[:, None]
        self.canvas_BN = self.canvas_BN.masked_fill(rest_BN, self.policy.end_ids[0])
        self.confidence_BN = self.confidence_BN.masked_fill(rest_BN, 1.0)
        self.stopped_B = self.stopped_B | over_B

    # Re-masking.

    def _remdm(self, held_BN: Tensor) -> Tensor:
        """Re-masks some of `held_BN`, the free slots that were committed before this pass."""
        policy = self.policy
        if not policy.remdm:
            return torch.zeros_like(held_BN)
        held_BN = held_BN & (self.block_BN == self.at_B[:, None]) & ~self.stopped_B[:, None]
        sigma_B = sigma(policy, remdm_clock(policy, self.spent_B, self.steps_B))
        chance_BN = sigma_B[:, None].expand(held_BN.shape)
        if policy.remask == "conf":
            chance_BN = share_by_doubt(sigma_B, self.confidence_BN, held_BN)
        again_BN = held_BN & (self.noise.uniform(held_BN) < chance_BN)
        self._mask(again_BN)
        return again_BN

    def _doubted(self) -> Tensor:
        """What the `unsure` rule re-masks before the next pass, in rows that are full."""
        policy = self.policy
        full_B = ~self.masked().any(1) & (self.rounds_B < policy.unsure_rounds) & ~self.stopped_B
        held_BN = self.free_BN & full_B[:, None]
        return unsure_spans(self.confidence_BN, held_BN, below=policy.unsure_below, reach=policy.unsure_reach)

    def _reopen(self, doubted_BN: Tensor) -> None:
        """Masks the spans of a new round, and starts the rows' clocks again."""
        rows_B = doubted_BN.any(1)
        self._mask(doubted_BN)
        self.rounds_B = self.rounds_B + rows_B
        self.at_B = torch.where(rows_B, self._next_block(self.at_B), self.at_B)
        self.spent_B = self.spent_B.masked_fill(rows_B, 0)
        self.unchanged_B = self.unchanged_B.masked_fill(rows_B, 0)

    def _mask(self, where_BN: Tensor) -> None:
        self.canvas_BN = self.canvas_BN.masked_fill(where_BN, self.mask_id)
        self.confidence_BN = self.confidence_BN.masked_fill(where_BN, 0.0)

    # Blocks.

    def _move(self) -> None:
        """On to the next block where this one is full and ReMDM's clock, if there is one, has run down."""
        self.spent_B = self.spent_B + self.active_B
        masked_BN = self.masked()
        over_B = masked_BN.any(1) & ~(masked_BN & (self.block_BN == self.at_B[:, None])).any(1) & ~self.settling_B
        if self.policy.remdm:
            over_B = over_B & (self.spent_B >= self.steps_B)
        self.at_B = torch.where(over_B, self._next_block(self.at_B), self.at_B)
        self.spent_B = self.spent_B.masked_fill(over_B, 0)

    def _next_block(self, at_B: Tensor) -> Tensor:
        """The lowest block with a masked slot; `at_B` in rows that are full."""
        masked_BN = self.masked()
        if not masked_BN.shape[1]:
            return at_B
        first_B = self.block_BN.masked_fill(~masked_BN, torch.iinfo(torch.long).max).amin(1)
        return torch.where(masked_BN.any(1), first_B, at_B)

    def _steps_in_block(self) -> Tensor:
        """The schedule's passes for each block of a row: an even share, rounded down, but one at least."""
        rows = zip(self.block_BN, self.masked(), strict=True)
        blocks = [max(1, len(block_N[masked_N].unique())) for block_N, masked_N in rows]
        steps = self.policy.steps or 1
        return torch.tensor([max(1, steps // n) for n in blocks], dtype=torch.long, device=self.canvas_BN.device)
