"""Passes of several runs made as one: whoever comes while a pass is under way is taken along in the next.

Nobody waits for company, and a run that is alone is computed as if this were not here. Exact up to rounding: a canvas
sees its own prompt and its own slots, whatever it is computed beside.
"""

# E prompts, D canvases of each, N slots, L positions of the prompt.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

import torch
import torch.nn.functional as F
from torch import Tensor

from .model import MASK, Encoded, Predicted

MOST = 8
"""Prompts in one pass."""

Predict = Callable[[Encoded, Tensor], Predicted]


@dataclass(slots=True, eq=False)
class _Wanted:
    """One run's pass."""

    encoded: Encoded
    canvas_BN: Tensor
    found: Predicted | None = None
    error: BaseException | None = None


class Gathering:
    """Whoever gets the turn computes for all that have come by then. Safe between threads."""

    def __init__(self, predict: Predict, *, most: int = MOST) -> None:
        self._predict, self._most = predict, most
        self._waiting: list[_Wanted] = []
        self._lock, self._turn = Lock(), Lock()
        self.wanted = self.made = 0
        """Passes that were asked for, and those that were made."""

    def predicted(self, encoded: Encoded, canvas_BN: Tensor) -> Predicted:
        """What `predict` says of these canvases of one prompt."""
        wanted = _Wanted(encoded, canvas_BN)
        with self._lock:
            self._waiting.append(wanted)
            self.wanted += 1
        with self._turn:
            while wanted.found is None and wanted.error is None:
                self._make()
        if wanted.error is not None:
            raise wanted.error
        assert wanted.found is not None
        return wanted.found

    def _make(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            self.made += 1
        try:
            found = together(self._predict, [(one.encoded, one.canvas_BN) for one in batch])
        except BaseException as error:
            # Each run gets to know; none of them must wait for ever.
            for one in batch:
                one.error = error
            return
        for one, predicted in zip(batch, found, strict=True):
            one.found = predicted


def together(predict: Predict, wanted: Sequence[tuple[Encoded, Tensor]]) -> list[Predicted]:
    """One pass over the canvases of several prompts, each padded to the longest, and what it says of each."""
    if len(wanted) == 1:
        return [predict(wanted[0][0], wanted[0][1][None])]
    D = max(canvas.shape[0] for _, canvas in wanted)
    canvases = torch.stack([F.pad(canvas, (0, 0, 0, D - canvas.shape[0]), value=MASK) for _, canvas in wanted])
    found = predict(side_by_side([encoded for encoded, _ in wanted]), canvases)
    return [
        _one(found, row, canvas.shape[0], encoded.states_ELC.shape[1]) for row, (encoded, canvas) in enumerate(wanted)
    ]


def side_by_side(prompts: Sequence[Encoded]) -> Encoded:
    """Prompts as one batch. What pads the shorter ones is not real, and nothing may point at it."""
    L = max(prompt.states_ELC.shape[1] for prompt in prompts)

    def states(tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([F.pad(t, (0, 0, 0, L - t.shape[-2])) for t in tensors])

    def marks(tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([F.pad(t, (0, L - t.shape[-1])) for t in tensors])

    return Encoded(
        states([p.states_ELC for p in prompts]),
        states([p.start_ELC for p in prompts]),
        states([p.stop_ELC for p in prompts]),
        states([p.cite_ELC for p in prompts]),
        [states(layer) for layer in zip(*(p.keys for p in prompts), strict=True)],
        [states(layer) for layer in zip(*(p.values for p in prompts), strict=True)],
        marks([p.real_EL for p in prompts]),
        marks([p.point_EL for p in prompts]),
        marks([p.last_EL for p in prompts]),
        marks([p.mark_EL for p in prompts]),
        marks([p.run_EL for p in prompts]),
    )


def _one(found: Predicted, row: int, D: int, L: int) -> Predicted:
    """The part of one prompt, without what it was padded with. Citations have END behind the last position."""
    own = Predicted(*(field[row : row + 1, :D] for field in found))
    return own._replace(
        start_EDL=own.start_EDL[..., :L],
        stop_EDAL=own.stop_EDAL[..., :L],
        cite_EDML=torch.cat([own.cite_EDML[..., :L], own.cite_EDML[..., -1:]], -1),
        bridge_start_EDL=own.bridge_start_EDL[..., :L],
        bridge_stop_EDBL=own.bridge_stop_EDBL[..., :L],
        support_EDL=own.support_EDL[..., :L],
    )
