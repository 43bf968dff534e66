"""What the evidence changes: logits with it against logits without it, token by token.

Context guidance in the manner of ARAM (arXiv 2603.17677): the shift that the evidence makes is followed the further, the
more its signal stands out of its noise. The same shift says how much a token rests on the evidence. The paper's own
constants could not be looked up; signal, noise and scale are defined here.
"""

# B rows, N canvas slots, V vocabulary.

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .denoiser import Checkpoint
from .guide import guided
from .reuse import Prompted


def shift(with_BNV: Tensor, without_BNV: Tensor) -> tuple[Tensor, Tensor]:
    """Signal and noise of the evidence's shift, [B, N] each, in nats: mean and standard deviation, under the distribution
    with evidence, of how much likelier it makes a word. The mean is KL(with || without), so never negative.

    >>> shift(torch.tensor([[[0.0, 0.0]]]), torch.tensor([[[1.0, 1.0]]]))
    (tensor([[0.]]), tensor([[0.]]))
    """
    log_with_BNV, log_without_BNV = torch.log_softmax(with_BNV.float(), -1), torch.log_softmax(without_BNV.float(), -1)
    p_BNV = log_with_BNV.exp()
    gain_BNV = torch.where(p_BNV > 0, log_with_BNV - log_without_BNV, 0.0)
    mean_BN = (p_BNV * gain_BNV).sum(-1)
    spread_BN = (p_BNV * (gain_BNV - mean_BN[..., None]) ** 2).sum(-1)
    return mean_BN.clamp(min=0), spread_BN.clamp(min=0).sqrt()


def scale(signal_BN: Tensor, noise_BN: Tensor, most: float) -> Tensor:
    """How far beyond the logits with evidence to go, 0 to `most`: `most` s / (1 + s) for the signal-to-noise ratio s.

    >>> scale(torch.tensor([0.0, 1.0, 3.0]), torch.tensor([1.0, 1.0, 1.0]), 2.0).tolist()
    [0.0, 1.0, 1.5]
    """
    return most * signal_BN / (signal_BN + noise_BN).clamp(min=1e-12)


@dataclass(slots=True, eq=False)
class Contrast:
    """A request with evidence and the same without."""

    beside: Prompted
    without: Prompted
    grounds_BN: Tensor | None = None
    """KL(with || without) of each slot when it was last masked, in nats: how much the evidence decided it."""
    leaning_BNV: Tensor | None = None
    """Of each slot, when it was last masked, how many times likelier the evidence makes every word, as a logarithm."""
    last_pass: int | None = None

    @property
    def computed_BN(self) -> Tensor | None:
        return self.beside.computed_BN


class Contrasted:
    """`Denoiser[Contrast]`: two passes a pass, guided by what the evidence changes. Keeps nothing between calls."""

    def __init__(self, model: Checkpoint, *, most: float) -> None:
        self.model, self._most = model, most

    @property
    def mask_id(self) -> int:
        return self.model.mask_id

    def prefill(self, prompts: Sequence[Sequence[int]], *, head: int = 0) -> Contrast:
        """Two prompts: with evidence, and without. `head` as in `Checkpoint.prefill`."""
        beside, without = prompts
        return Contrast(self.model.prefill([beside], head=head), self.model.prefill([without]))

    def predict(self, state: Contrast, canvas_BN: Tensor) -> Tensor:
        state.beside.last_pass = state.last_pass
        # Without evidence a block-causal network's blocks fall elsewhere, so all of its slots are computed.
        in_blocks = self.model.network.attends_in_blocks_of
        state.without.last_pass = state.without.passes + 1 if in_blocks else state.last_pass
        with_BNV = self.model.predict(state.beside, canvas_BN)
        without_BNV = self.model.predict(state.without, canvas_BN)
        signal_BN, noise_BN = shift(with_BNV, without_BNV)
        masked_BN = canvas_BN.to(signal_BN.device) == self.mask_id
        was_BN = torch.zeros_like(signal_BN) if state.grounds_BN is None else state.grounds_BN
        state.grounds_BN = torch.where(masked_BN, signal_BN, was_BN)
        difference_BNV = torch.log_softmax(with_BNV.float(), -1) - torch.log_softmax(without_BNV.float(), -1)
        held_BNV = torch.zeros_like(difference_BNV) if state.leaning_BNV is None else state.leaning_BNV
        state.leaning_BNV = torch.where(masked_BN[..., None], difference_BNV, held_BNV)
        return guided(with_BNV, without_BNV, scale(signal_BN, noise_BN, self._most)[..., None])


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """What the evidence did for each slot of finished canvases, [B, N] each."""

    nats_BN: Tensor
    """How much it changed what the model would say there."""
    leaning_BN: Tensor
    """How much it speaks for what the model says there, 0 where a slot was given: below 0 it speaks against it."""

    @property
    def trust_BN(self) -> Tensor:
        """0..1, to multiply confidences with: 1 where the evidence does not speak against a word, else how many times less
        likely it makes it."""
        return self.leaning_BN.exp().clamp(max=1.0)


def grounds(state: Contrast, ids_BN: Tensor) -> Grounds:
    """By the pass that last saw each slot masked."""
    if state.leaning_BNV is None or state.grounds_BN is None:
        return Grounds(torch.zeros(ids_BN.shape), torch.zeros(ids_BN.shape))
    leaning_BN = state.leaning_BNV.gather(-1, ids_BN.to(state.leaning_BNV.device)[..., None])[..., 0]
    return Grounds(state.grounds_BN.cpu(), leaning_BN.cpu())
