"""Credit for words that stay the likeliest pass after pass, so that a slot the model keeps agreeing on is committed sooner.

CreditDecoding (arXiv 2510.06133) as dInfer decodes with it; the defaults are dInfer's. What a run has earned is in its account.
"""

# B batch, N canvas slots, V vocabulary, T passes so far.

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    weight: float = 0.7
    """How much the logarithm of the credit adds to a logit."""
    power: float = 0.2
    """A pass earns its likeliest word its probability to this power."""
    decay: float = 0.8
    """What is left of earned credit from one pass to the next."""

    def __post_init__(self) -> None:
        if not self.weight >= 0 or not self.power >= 0:
            raise ValueError(f"weight={self.weight!r} or power={self.power!r} is negative")
        if not 0 <= self.decay <= 1:
            raise ValueError(f"decay={self.decay!r} is not between 0 and 1")


class Account:
    """What each slot's words have earned. Keeps one word a slot and pass, never a table of the vocabulary."""

    def __init__(self, credit: Credit) -> None:
        self._credit = credit
        self._ids: list[Tensor] = []
        self._earned: list[Tensor] = []

    def spent(self, logits_BNV: Tensor, masked_BN: Tensor) -> Tensor:
        """Earns for this pass, in the masked slots, and gives the logits raised by what has been earned."""
        likeliest = torch.softmax(logits_BNV.float(), -1).max(-1)
        self._earned = [each * self._credit.decay for each in self._earned]
        self._ids.append(likeliest.indices)
        self._earned.append(torch.where(masked_BN, likeliest.values**self._credit.power, 0.0))
        ids_BNT, earned_BNT = torch.stack(self._ids, -1), torch.stack(self._earned, -1)
        same_BNTT = ids_BNT[..., :, None] == ids_BNT[..., None, :]
        total_BNT = (same_BNTT * earned_BNT[..., None, :]).sum(-1)
        raised_BNT = logits_BNV.gather(-1, ids_BNT) + self._credit.weight * torch.log1p(total_BNT).to(logits_BNV)
        return logits_BNV.scatter(-1, ids_BNT, raised_BNT)
