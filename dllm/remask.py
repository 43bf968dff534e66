"""Which committed slots are masked again: ReMDM's chances, spans that were unsure, spans that someone names.

Pure functions. `alpha` is the share of the canvas that is committed: it rises from 0 to 1 while time falls from 1 to 0.
"""

# B batch, N canvas slots.

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .policy import Policy


class Clock(NamedTuple):
    """Where each row stands on the way from time t to time s."""

    time_B: Tensor
    alpha_t_B: Tensor
    alpha_s_B: Tensor


def clock(policy: Policy, spent_B: Tensor, steps_B: Tensor) -> Clock:
    """The clock after `spent_B` of `steps_B` equal steps from time 1 to time 0."""
    time_B = (1 - spent_B.double() / steps_B).clamp(min=0)
    next_B = (1 - (spent_B.double() + 1) / steps_B).clamp(min=0)
    return Clock(time_B, alpha(policy, time_B), alpha(policy, next_B))


def alpha(policy: Policy, time_B: Tensor) -> Tensor:
    """How much is committed at a time: 1 - time; for `loop` a rise to `loop_alpha`, a plateau there, and a rise to 1
    (ReMDM, arXiv 2503.00307)."""
    if policy.remask != "loop":
        return 1 - time_B
    on, off, held = policy.loop_on, policy.loop_off, policy.loop_alpha
    rising_B = (1 - time_B) * held / max(1 - on, 1e-12)
    ending_B = 1 - time_B * (1 - held) / max(off, 1e-12)
    return torch.where(time_B > on, rising_B.clamp(max=held), torch.where(time_B <= off, ending_B, held))


def largest_sigma(alpha_t_B: Tensor, alpha_s_B: Tensor) -> Tensor:
    """The greatest chance of re-masking that keeps the marginals: min(1, (1 - alpha_s) / alpha_t) (ReMDM).

    >>> largest_sigma(torch.tensor([0.5, 0.1]), torch.tensor([0.75, 0.2])).tolist()
    [0.5, 1.0]
    """
    return ((1 - alpha_s_B) / alpha_t_B.clamp(min=1e-12)).clamp(max=1.0)


def sigma(policy: Policy, now: Clock) -> Tensor:
    """The chance that a committed slot is re-masked in this step; `conf` shares it out between the slots."""
    most_B = largest_sigma(now.alpha_t_B, now.alpha_s_B)
    if policy.remask == "cap":
        return most_B.clamp(max=policy.eta)
    if policy.remask == "rescale":
        return most_B * policy.eta
    if policy.remask == "loop":
        correcting_B = (now.time_B <= policy.loop_on) & (now.time_B > policy.loop_off)
        return torch.where(correcting_B, most_B.clamp(max=policy.eta), 0.0)
    return most_B if policy.remask == "conf" else torch.zeros_like(most_B)


def share_by_doubt(sigma_B: Tensor, confidence_BN: Tensor, committed_BN: Tensor) -> Tensor:
    """ReMDM `conf`: sigma times the softmax of minus the confidence each slot had when it was committed."""
    doubt_BN = (-confidence_BN.double()).masked_fill(~committed_BN, -torch.inf).softmax(1)
    return torch.where(committed_BN, sigma_B[:, None] * doubt_BN, 0.0)


def commit_chance(now: Clock, sigma_B: Tensor) -> Tensor:
    """The chance that a masked slot is committed in this step: (alpha_s - (1 - sigma) alpha_t) / (1 - alpha_t).
    Without re-masking it is MDLM's, and the 1 - s/t of Dream's `origin`."""
    gained_B = now.alpha_s_B - (1 - sigma_B) * now.alpha_t_B
    return (gained_B / (1 - now.alpha_t_B).clamp(min=1e-12)).clamp(0.0, 1.0)


def unsure_spans(confidence_BN: Tensor, committed_BN: Tensor, *, below: float, reach: int = 0) -> Tensor:
    """Committed slots that were less than `below` sure when they were committed, and `reach` neighbours on either side.

    >>> unsure_spans(torch.tensor([[0.9, 0.2, 0.9, 0.9]]), torch.ones(1, 4, dtype=torch.bool), below=0.5, reach=1).tolist()
    [[True, True, True, False]]
    """
    unsure_BN = committed_BN & (confidence_BN < below)
    spread_BN = unsure_BN.clone()
    for shift in range(1, min(reach, confidence_BN.shape[1] - 1) + 1):
        spread_BN[:, shift:] |= unsure_BN[:, :-shift]
        spread_BN[:, :-shift] |= unsure_BN[:, shift:]
    return spread_BN & committed_BN


def mask_spans(canvas_N: Tensor, spans: Sequence[tuple[int, int]], *, mask_id: int) -> Tensor:
    """The canvas with slots `start` to `end` (exclusive) of every span masked, for doubt that comes from outside.

    >>> mask_spans(torch.tensor([5, 6, 7]), [(1, 2)], mask_id=0).tolist()
    [5, 0, 7]
    """
    masked_N = canvas_N.clone()
    for start, end in spans:
        if not 0 <= start <= end <= len(canvas_N):
            raise ValueError(f"span {(start, end)!r} is not within a canvas of {len(canvas_N)} slots")
        masked_N[start:end] = mask_id
    return masked_N
