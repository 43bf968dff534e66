"""How a canvas fills: which masked slots a pass commits, how a block moves, when a row is done. Pure functions of tensors.

Every rule looks at one row at a time, so a row gets in a batch what it gets alone. Ties go to the earlier slot.
`remask.py` has the rules for re-masking. Nothing here runs a model or draws a random number.
"""

# B batch, N canvas slots.

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Commit = Literal["schedule", "random", "threshold", "factor", "entropy", "hierarchy", "ancestral", "all"]
Remask = Literal["never", "cap", "rescale", "conf", "loop", "unsure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One way to denoise. The default is LLaDA's: the surest slot of every pass, one pass a slot."""

    commit: Commit = "schedule"
    """`schedule`: the surest, as many as `steps` asks for (LLaDA, arXiv 2502.09992); `random`: as many, in random order;
    `threshold`, `factor`: Fast-dLLM (arXiv 2505.22618); `entropy`: EB-Sampler (arXiv 2505.24857); `hierarchy`: what
    `threshold` commits, and the surest slot of every run of masks (dInfer, arXiv 2510.08666); `ancestral`: each slot by
    chance (MDLM, arXiv 2406.07524; Dream's `origin`); `all`: everything at once."""
    steps: int | None = None
    """Passes a canvas is meant to take, shared evenly between its blocks; None: no schedule, at least one slot a pass.
    With any rule, a pass commits at least what the schedule asks for, as in LLaDA2 and SDAR."""
    shares: Literal["even", "time"] = "even"
    """How `steps` share the slots. `even`: the same number each pass (LLaDA); `time`: of the slots that are left, the share
    of the time that is left that a pass takes (Dream, see `quota_by_time`)."""
    threshold: float = 0.9
    """Commit what is at least this sure, and always the surest (Fast-dLLM's default)."""
    factor: float = 1.0
    """Commit the n surest while the n-th is at least 1 - factor / (n + 1) sure (Fast-dLLM)."""
    entropy_bound: float = 0.1
    """Nats that the slots committed together may have in all, the least sure one apart (EB-Sampler)."""
    hierarchy_above: float = 0.0
    """`hierarchy`: a run's surest slot has to be surer than this; where no slot of a row is, only its surest is committed
    (dInfer's `low_threshold`)."""
    edit_above: float | None = None
    """Replace a committed slot of the block in work where the model now says another word and is surer of it than this, and
    look at a block that is full again until nothing changes (LLaDA2.1's token editing, its `editing_threshold`, 0.9 there);
    None: never. The proposals have to speak of slots that are not masked."""
    edit_passes: int = 16
    """How often a block that is full is looked at again, at most (LLaDA2.1's `max_post_steps`)."""
    end_ids: tuple[int, ...] = ()
    """Once a row says one of these with nothing masked before it, the rest of the row gets the first of them and the row is
    done (LLaDA2's `eos_early_stop`); empty: a row is filled to its last slot."""
    block_length: int | None = None
    """Slots that are open to commit at a time (semi-autoregressive, LLaDA); None: the whole canvas."""
    block_moves: Literal["jump", "slide"] = "jump"
    """`jump`: to the next block once this one is full (LLaDA); `slide`: the window starts at the first masked slot."""
    remask: Remask = "never"
    """Which committed slots are re-masked. `cap`, `rescale`, `conf`, `loop`: ReMDM (arXiv 2503.00307), needs `steps`;
    `unsure`: once a row is full, what was unsure when it was committed."""
    eta: float = 0.02
    """How much ReMDM re-masks: its greatest chance (`cap`, `loop`) or the share of the greatest possible (`rescale`)."""
    loop_on: float = 0.55
    """ReMDM `loop`: from this time on (time falls from 1 to 0) the canvas is held at `loop_alpha` and corrected."""
    loop_off: float = 0.05
    """ReMDM `loop`: from this time on the rest is committed and nothing re-masked any more."""
    loop_alpha: float = 0.9
    """ReMDM `loop`: share of slots that are committed while it corrects."""
    unsure_below: float = 0.5
    """`unsure`: slots committed with less confidence are re-masked."""
    unsure_reach: int = 1
    """`unsure`: so many neighbours on either side go with them, for a span is wrong as a whole."""
    unsure_rounds: int = 1
    """`unsure`: how often a row is re-masked at most."""
    stable_passes: int | None = None
    """Commit the whole block in work once the model's proposal has not changed for this many passes; None: never."""
    max_passes: int | None = None
    """Passes that may be made at all; None: as many as it takes."""
    leave_masks: bool = False
    """Whether slots may stay masked when the passes are used up; else the last pass commits everything."""

    def __post_init__(self) -> None:
        for name in ("steps", "block_length", "stable_passes", "max_passes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}={value!r} is too small. Give at least 1, or None")
        for name in (
            "threshold",
            "eta",
            "loop_on",
            "loop_off",
            "loop_alpha",
            "unsure_below",
            "hierarchy_above",
            "edit_above",
        ):
            if getattr(self, name) is not None and not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)!r} is not between 0 and 1")
        for name in ("factor", "entropy_bound", "unsure_reach", "unsure_rounds", "edit_passes"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}={getattr(self, name)!r} is negative")
        if self.loop_on < self.loop_off:
            raise ValueError(f"loop_on={self.loop_on!r} comes after loop_off={self.loop_off!r}. Time falls from 1 to 0")
        if self.edit_above is not None and self.remask != "never":
            raise ValueError(f"edit_above={self.edit_above!r} with remask={self.remask!r}: choose one of the two")
        if self.steps is None and (self.remdm or self.commit == "ancestral"):
            raise ValueError(f"commit={self.commit!r} with remask={self.remask!r} follows a clock. Give it steps")

    @property
    def remdm(self) -> bool:
        """Whether committed slots may be re-masked while the canvas fills."""
        return self.remask in ("cap", "rescale", "conf", "loop")


def threshold_policy(threshold: float = 0.9, *, max_passes: int | None = None) -> Policy:
    """Fast-dLLM's parallel decoding; the last pass of the budget commits what is left."""
    return Policy(commit="threshold", threshold=threshold, max_passes=max_passes)


# Commit. `open_BN`: slots that may be committed. Each gives the chosen slots, [B, N] bool.


def quota(masked_B: Tensor, passes_left_B: Tensor) -> Tensor:
    """How many slots a pass commits so that the passes left share the masked slots evenly, the earlier ones more.
    Pass after pass it gives LLaDA's `num_transfer`.

    >>> quota(torch.tensor([12, 9, 7]), torch.tensor([5, 4, 3])).tolist()
    [3, 3, 3]
    """
    left_B = passes_left_B.clamp(min=1)
    return (masked_B + left_B - 1) // left_B


def quota_by_time(masked_B: Tensor, spent_B: Tensor, steps_B: Tensor) -> tuple[Tensor, Tensor]:
    """Dream's schedule: time falls from 1 to 0.001 in equal steps, a pass from t to s commits the share 1 - s/t of the
    masked slots, rounded down, and the last pass all. Gives that count, and how many steps are spent once those that
    would commit nothing are passed over: Dream's code runs the model for them, and commits nothing.

    In float32 as in Dream's `diffusion_generate` (DreamLM/Dream), which takes the mean of a batch's masks where this
    counts each row's own: the same wherever rows have equally many.

    >>> quota_by_time(torch.tensor([12, 2]), torch.tensor([0, 0]), torch.tensor([5, 5]))
    (tensor([2, 2]), tensor([0, 4]))
    """
    rows = zip(masked_B.tolist(), spent_B.tolist(), steps_B.tolist(), strict=True)
    found = torch.tensor([_due(*row) for row in rows], dtype=torch.long, device=masked_B.device).view(-1, 2)
    return found[:, 0], found[:, 1]


def _due(masked: int, spent: int, steps: int) -> tuple[int, int]:
    times = torch.linspace(1, 1e-3, steps + 1)
    for at in range(spent, steps - 1):
        count = int(torch.tensor(float(masked)) * (1 - times[at + 1] / times[at]))
        if count:
            return count, at
    return masked, max(spent, steps - 1)


def surest(key_BN: Tensor, open_BN: Tensor, count_B: Tensor) -> Tensor:
    """The `count_B` open slots of each row with the highest keys; all of them where there are fewer.

    >>> surest(torch.tensor([[0.2, 0.9, 0.9]]), torch.ones(1, 3, dtype=torch.bool), torch.tensor([1])).tolist()
    [[False, True, False]]
    """
    return open_BN & (_rank(key_BN, open_BN) < count_B[:, None])


def above_threshold(confidence_BN: Tensor, open_BN: Tensor, threshold: float) -> Tensor:
    """Slots at least `threshold` sure (Fast-dLLM, section 3.3; there the surest one is always added)."""
    return open_BN & (confidence_BN >= threshold)


def within_factor(confidence_BN: Tensor, open_BN: Tensor, factor: float) -> Tensor:
    """The n surest slots, n as large as every one of them allows: the i-th is at least 1 - factor / (i + 1) sure
    (Fast-dLLM, section 3.3)."""
    rank_BN = _rank(confidence_BN, open_BN)
    failing_BN = open_BN & (confidence_BN < 1 - factor / (rank_BN.double() + 2))
    first_B = torch.where(failing_BN, rank_BN, rank_BN.shape[1]).amin(1)
    return open_BN & (rank_BN < first_B[:, None])


def within_entropy(confidence_BN: Tensor, open_BN: Tensor, bound: float) -> Tensor:
    """The largest set of surest slots whose entropies, all but the greatest, sum to at most `bound` nats
    (EB-Sampler, arXiv 2505.24857, eq. 6). The entropy is -log of the confidence: exact where the confidence is
    measured as `entropy`, else a lower bound of it."""
    return within_nats(-confidence_BN.double().clamp(min=1e-300).log(), open_BN, bound)


def within_nats(nats_BN: Tensor, open_BN: Tensor, bound: float) -> Tensor:
    """`within_entropy`, given the entropies themselves.

    >>> within_nats(torch.tensor([[0.3, 0.1, 0.2]]), torch.ones(1, 3, dtype=torch.bool), 0.15).tolist()
    [[False, True, True]]
    """
    nats_BN = torch.where(open_BN, nats_BN.double(), torch.inf)
    order_BN = nats_BN.argsort(dim=1, stable=True)
    sorted_BN = nats_BN.gather(1, order_BN).masked_fill(~open_BN.gather(1, order_BN), 0)
    before_BN = sorted_BN.cumsum(1) - sorted_BN
    return open_BN & torch.empty_like(open_BN).scatter(1, order_BN, before_BN <= bound)


def by_hierarchy(confidence_BN: Tensor, open_BN: Tensor, threshold: float, above: float) -> Tensor:
    """Slots surer than `threshold`, and the surest slot of every run of open slots where it is surer than `above`: far
    apart slots depend on each other less (dInfer, arXiv 2510.08666, hierarchical decoding). Where no slot of a row is
    surer than `above`, its surest alone.

    >>> by_hierarchy(torch.tensor([[0.3, 0.5, 0.9, 0.4]]), torch.tensor([[True, True, False, True]]), 0.8, 0.0).tolist()
    [[False, True, False, True]]
    """
    run_BN = _runs(open_BN)
    key_BN = torch.where(open_BN, confidence_BN.double(), -torch.inf)
    best_BN = torch.full_like(key_BN, -torch.inf).scatter_reduce(1, run_BN, key_BN, "amax").gather(1, run_BN)
    peak_BN = open_BN & (key_BN == best_BN)
    places_BN = torch.arange(key_BN.shape[1], device=key_BN.device).expand_as(key_BN)
    none = key_BN.shape[1]
    first_BN = torch.full_like(run_BN, none).scatter_reduce(1, run_BN, places_BN.where(peak_BN, none), "amin")
    peak_BN = peak_BN & (places_BN == first_BN.gather(1, run_BN))
    surest_B1 = surest(key_BN, open_BN, torch.ones_like(run_BN[:, 0]))
    chosen_BN = (peak_BN & (key_BN > above)) | (open_BN & (key_BN > threshold))
    return torch.where(chosen_BN.any(1, keepdim=True), chosen_BN, surest_B1)


def _runs(open_BN: Tensor) -> Tensor:
    """The number of each slot's run of neighbours that are alike, from 0."""
    changed_BN = torch.zeros_like(open_BN)
    changed_BN[:, 1:] = open_BN[:, 1:] != open_BN[:, :-1]
    return changed_BN.long().cumsum(1)


def to_edit(confidence_BN: Tensor, ids_BN: Tensor, canvas_BN: Tensor, held_BN: Tensor, above: float) -> Tensor:
    """Held slots whose proposal is another word than theirs and surer than `above` (LLaDA2.1, token editing).

    >>> to_edit(torch.tensor([[0.95, 0.95, 0.5]]), torch.tensor([[1, 2, 3]]), torch.tensor([[1, 1, 1]]),
    ...         torch.ones(1, 3, dtype=torch.bool), 0.9).tolist()
    [[False, True, False]]
    """
    return held_BN & (ids_BN != canvas_BN) & (confidence_BN > above)


def after_end(canvas_BN: Tensor, masked_BN: Tensor, end_ids: Sequence[int]) -> Tensor:
    """Slots right of a row's first end, in rows that have nothing masked before it.

    >>> after_end(torch.tensor([[5, 1, 9, 9], [9, 1, 9, 9]]), torch.tensor([[False, False, True, True]] * 2), [1]).tolist()
    [[False, False, True, True], [False, False, True, True]]
    >>> after_end(torch.tensor([[9, 1, 9]]), torch.tensor([[True, False, True]]), [1]).tolist()
    [[False, False, False]]
    """
    ends_BN = torch.isin(canvas_BN, torch.tensor(end_ids, device=canvas_BN.device)) & ~masked_BN
    seen_BN = ends_BN.cumsum(1) > 0
    open_B1 = (masked_BN & ~seen_BN).any(1, keepdim=True)
    return seen_BN & ~(ends_BN & (ends_BN.cumsum(1) == 1)) & ~open_B1


def beyond_quota(policy: Policy, confidence_BN: Tensor, open_BN: Tensor) -> Tensor:
    """What the rule commits whatever the schedule asks for."""
    if policy.commit == "threshold":
        return above_threshold(confidence_BN, open_BN, policy.threshold)
    if policy.commit == "factor":
        return within_factor(confidence_BN, open_BN, policy.factor)
    if policy.commit == "hierarchy":
        return by_hierarchy(confidence_BN, open_BN, policy.threshold, policy.hierarchy_above)
    if policy.commit == "entropy":
        return within_entropy(confidence_BN, open_BN, policy.entropy_bound)
    return open_BN if policy.commit == "all" else torch.zeros_like(open_BN)


def by_chance(uniform_BN: Tensor, open_BN: Tensor, chance_B: Tensor) -> Tensor:
    """Each open slot with the row's chance, given uniform numbers in [0, 1)."""
    return open_BN & (uniform_BN < chance_B[:, None])


def _rank(key_BN: Tensor, open_BN: Tensor) -> Tensor:
    """0 for the open slot with the highest key, then 1, 2, ...; slots that are not open come last."""
    keyed_BN = torch.where(open_BN, key_BN.double(), -torch.inf)
    order_BN = keyed_BN.argsort(dim=1, descending=True, stable=True)
    places_BN = torch.arange(key_BN.shape[1], device=key_BN.device).expand_as(order_BN)
    return torch.empty_like(order_BN).scatter(1, order_BN, places_BN)


# Blocks.


def number_blocks(free_BN: Tensor, block_length: int | None) -> Tensor:
    """The block of every slot, counted from the row's first free slot, so that a prompt before it shifts nothing.

    >>> number_blocks(torch.tensor([[False, True, True, True]]), 2).tolist()
    [[-1, 0, 0, 1]]
    """
    places_BN = torch.arange(free_BN.shape[1], device=free_BN.device).expand_as(free_BN)
    first_B1 = free_BN.long().argmax(1, keepdim=True)
    if block_length is None:
        return torch.zeros_like(places_BN)
    return (places_BN - first_B1).div(block_length, rounding_mode="floor")


def window(masked_BN: Tensor, length: int) -> Tensor:
    """The masked slots among the `length` that begin at the first masked one."""
    places_BN = torch.arange(masked_BN.shape[1], device=masked_BN.device).expand_as(masked_BN)
    return masked_BN & (places_BN < masked_BN.long().argmax(1, keepdim=True) + length)


# Stopping.


def count_unchanged(now_BN: Tensor, before_BN: Tensor | None, unchanged_B: Tensor) -> Tensor:
    """For how many passes each row has now been proposed the same."""
    if before_BN is None:
        return torch.zeros_like(unchanged_B)
    return torch.where((now_BN == before_BN).all(1), unchanged_B + 1, 0)
