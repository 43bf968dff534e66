"""How a generator runs a checkpoint: one way for models with a mask, one for models that denoise random words.

Both fill the slots that hold `mask_id` and leave the others. Knows token ids. Does not know text.
"""

# B drafts side by side, N canvas slots, V vocabulary.

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from ..credit import Credit
from ..denoise import Denoised, Run, Step, denoise
from ..policy import Policy
from ..renoise import RenoisePolicy, renoise
from ..sample import Sampling, from_logits, without
from .denoiser import Checkpoint, DecodeOptions
from .gemma import Gemma, Read
from .ground import Contrast, Contrasted, Grounds, grounds
from .network import Network
from .reuse import Prompted

Adjust = Callable[[Tensor, Tensor], Tensor]
"""Changes `logits_BNV` before anything is read off them, given the canvas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What one run is asked for."""

    sampling: Sequence[Sampling]
    """One for every row."""
    max_passes: int
    seed: int = 0
    ends: tuple[int, ...] = ()
    """Ids after which an answer is over; empty: fill every slot."""
    adjust: Adjust | None = None
    credit: Credit | None = None
    """Only for models with a mask."""


class Engine(Protocol):
    """A checkpoint as a generator sees it. Holds nothing of a request: that is in the state."""

    @property
    def name(self) -> str: ...

    @property
    def mask_id(self) -> int: ...

    @property
    def window(self) -> int:
        """Positions that prompt and canvas may take together."""
        ...

    @property
    def device(self) -> torch.device: ...

    @property
    def words(self) -> int:
        """How many logits a slot has."""
        ...

    def slots(self, wanted: int, prompt_tokens: int) -> int:
        """How many slots a canvas has that is to hold `wanted` words; after a prompt of unknown length (0), at most."""
        ...

    def passes(self, slots: int) -> int:
        """How many a run over so many slots should be given; most end sooner."""
        ...

    def prefill(self, prompt: Sequence[int], *, head: int = 0, without: Sequence[int] = ()) -> Any:
        """`head`: how many ids of the prompt other questions about the same documents begin with too. `without`: the same
        prompt without documents, where drafts are to lean on them."""
        ...

    def logits(self, state: Any, canvas_BN: Tensor) -> Tensor:
        """`logits_BNV` of one pass over all slots."""
        ...

    def grounds(self, state: Any, ids_BN: Tensor) -> Grounds | None:
        """What the documents did for each word of a finished run; None where it had no `without`."""
        ...

    def run(self, state: Any, canvas_BN: Tensor, order: Order) -> Run: ...


class Masked:
    """A model with a mask, under `denoise`."""

    def __init__(self, network: Network, decode: DecodeOptions, policy: Policy, *, lean: float = 0.0) -> None:
        self.model, self._policy = Checkpoint(network, decode), policy
        self._contrasted = Contrasted(self.model, most=lean)
        self.name, self.window, self.device = network.family.name, network.window, network.device
        self.words = network.words

    @property
    def mask_id(self) -> int:
        return self.model.mask_id

    def slots(self, wanted: int, prompt_tokens: int) -> int:
        """The last block of a block-causal model is whole."""
        size = self.model.network.attends_in_blocks_of
        if size is None:
            return wanted
        return wanted + (-(prompt_tokens + wanted) % size if prompt_tokens else size - 1)

    def passes(self, slots: int) -> int:
        """One for every slot: fewer would commit slots that the model is not sure of."""
        return slots

    def prefill(self, prompt: Sequence[int], *, head: int = 0, without: Sequence[int] = ()) -> Prompted | Contrast:
        head = head if self.model.documents is not None else 0
        if without:
            return self._contrasted.prefill([prompt, without], head=head)
        return self.model.prefill([prompt], head=head)

    def logits(self, state: Prompted, canvas_BN: Tensor) -> Tensor:
        state.last_pass = state.passes + 1
        return self.model.predict(state, canvas_BN)

    def grounds(self, state: Prompted | Contrast, ids_BN: Tensor) -> Grounds | None:
        return grounds(state, ids_BN) if isinstance(state, Contrast) else None

    def run(self, state: Prompted | Contrast, canvas_BN: Tensor, order: Order) -> Run:
        state.last_pass = order.max_passes
        policy = replace(self._policy, steps=order.max_passes, max_passes=order.max_passes, end_ids=order.ends)
        named: dict[str, Any] = {
            "seed": order.seed,
            "adjust": order.adjust,
            "held": policy.edit_above is not None,
            "credit": order.credit,
        }
        if isinstance(state, Contrast):
            propose = from_logits(self._contrasted, state, order.sampling, **named)
            blocks_BN = self.model.blocks(state.beside, *canvas_BN.shape)
        else:
            propose = from_logits(self.model, state, order.sampling, **named)
            blocks_BN = self.model.blocks(state, *canvas_BN.shape)
        return denoise(propose, canvas_BN, mask_id=self.mask_id, policy=policy, seed=order.seed, block_BN=blocks_BN)


class Renoised:
    """DiffusionGemma, under `renoise`: canvases of one length, one after the other, each read once it is finished."""

    def __init__(self, model: Gemma, policy: RenoisePolicy | None = None) -> None:
        self.model, self._policy = model, policy or RenoisePolicy()
        self.name, self.window, self.device = "diffusiongemma", model.window, model.device
        self.words = model.words

    @property
    def mask_id(self) -> int:
        return self.model.mask_id

    def slots(self, wanted: int, prompt_tokens: int) -> int:
        """Whole canvases."""
        return wanted + -wanted % self.model.canvas_length

    def passes(self, slots: int) -> int:
        return self._policy.max_passes * max(1, slots // self.model.canvas_length)

    def prefill(self, prompt: Sequence[int], *, head: int = 0, without: Sequence[int] = ()) -> Read:
        """Random words leave nothing to compare slot by slot, so `without` is not for it."""
        assert not without
        return self.model.prefill([prompt])

    def logits(self, state: Read, canvas_BN: Tensor) -> Tensor:
        return self.model.predict(state, canvas_BN)

    def grounds(self, state: Read, ids_BN: Tensor) -> Grounds | None:
        return None

    def run(self, state: Read, canvas_BN: Tensor, order: Order) -> Run:
        """The passes are shared between the canvases. Once every row has ended, the canvases after that are all ends."""
        free_BN, size = canvas_BN == self.mask_id, self.model.canvas_length
        parts = [slice(at, at + size) for at in range(0, canvas_BN.shape[1], size)]
        asked = [part for part in parts if bool(free_BN[:, part].any())]
        policy = replace(self._policy, max_passes=max(1, order.max_passes // max(1, len(asked))))
        sure_BN, passes_B = torch.where(free_BN, 0.0, 1.0), torch.zeros_like(canvas_BN[:, 0])
        index, ends = 0, torch.tensor(order.ends, device=canvas_BN.device)
        self.model.spread(state, canvas_BN.shape[0])
        for number, part in enumerate(asked):
            for before in parts[0 if not number else parts.index(asked[number - 1]) : parts.index(part)]:
                self.model.read(state, canvas_BN[:, before])
            if number and len(ends) and bool(torch.isin(canvas_BN[:, : part.start], ends).any(1).all()):
                rest_BN = free_BN & (torch.arange(canvas_BN.shape[1], device=canvas_BN.device) >= part.start)
                canvas_BN, sure_BN = canvas_BN.masked_fill(rest_BN, order.ends[0]), sure_BN.masked_fill(rest_BN, 1.0)
                break
            done = yield from self._canvas(state, canvas_BN, free_BN, part, policy, order, index)
            canvas_BN, sure_BN = _put(canvas_BN, part, done.canvas_BN), _put(sure_BN, part, done.confidence_BN)
            index, passes_B = index + done.passes, passes_B + done.passes_B
        return Denoised(canvas_BN, sure_BN, index, passes_B)

    def _canvas(
        self,
        state: Read,
        canvas_BN: Tensor,
        free_BN: Tensor,
        part: slice,
        policy: RenoisePolicy,
        order: Order,
        index: int,
    ) -> Run:
        """One canvas; its steps show all of them."""
        run = renoise(
            self.model,
            state,
            canvas_BN[:, part],
            free_BN=free_BN[:, part],
            policy=policy,
            seed=order.seed + index,
            adjust=lambda logits_BNV: _adjusted(logits_BNV, canvas_BN, order, part),
        )
        none_BN = torch.zeros_like(free_BN)
        later_B = free_BN[:, part.stop :].sum(1)
        while True:
            try:
                step = next(run)
            except StopIteration as stop:
                done: Denoised = stop.value
                return done
            yield Step(
                index + step.index,
                _put(canvas_BN, part, step.canvas_BN),
                _put(none_BN, part, step.committed_BN),
                _put(none_BN, part, step.remasked_BN),
                step.masked_B + later_B,
                step.seconds,
            )


def _adjusted(logits_BNV: Tensor, canvas_BN: Tensor, order: Order, part: slice) -> Tensor:
    """Without what is forbidden in each row. The order's own adjustment speaks of all slots and is given them, those that
    are being denoised masked."""
    rows = [without(row_NV, each.forbidden) for row_NV, each in zip(logits_BNV, order.sampling, strict=True)]
    logits_BNV = torch.stack(rows)
    if order.adjust is None:
        return logits_BNV
    B, _, V = logits_BNV.shape
    padded_BNV = torch.cat((logits_BNV.new_zeros(B, part.start, V), logits_BNV), 1)
    return order.adjust(padded_BNV, canvas_BN[:, : part.stop])[:, part.start :]


def _put(whole_BN: Tensor, part: slice, new_BN: Tensor) -> Tensor:
    whole_BN = whole_BN.clone()
    whole_BN[:, part] = new_BN
    return whole_BN
