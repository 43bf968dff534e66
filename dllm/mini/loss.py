"""What the reader is trained for: masked diffusion over the canvas, and distrust of its own mistakes.

Each prompt is read once and gets two canvases. The first is all masked. The second has a random share of its parts committed,
some of them wrong, among them spans drawn from the model's own first canvas: the errors it really makes.
"""

# E examples, W windows, T tokens a window, L = W*T, A answer slots, M citation slots, O gold occurrences.

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from .examples import WHOLE, Place
from .layout import MARK_SENTENCE, MARK_TITLE, Layout
from .mixture import Composed
from .model import END, KIND, KINDS, MASK, Encoded, Predicted, Reader, ReaderShape
from .spans import gold_scores, span_scores

SPAN = KINDS.index("span")
WEIGHTS = {"answer": 1.0, "kind": 0.5, "cite": 0.4, "bridge": 0.2, "support": 0.3, "check": 0.3}
SECOND = 0.5  # how much the second canvas counts
LATE = 0.2  # how much a slot after a part's end counts


@dataclass(frozen=True, slots=True)
class Batch:
    """Prompts and targets as tensors. -1 stands for "none" in every index."""

    ids: Tensor  # [E, W, T]
    marks: Tensor
    evidence: Tensor
    pointable: Tensor
    first: Tensor
    last: Tensor
    kind: Tensor  # [E]
    answer_at: Tensor  # [E, O]
    answer_length: Tensor
    cite_at: Tensor  # [E, M], END after the last
    cites_known: Tensor  # [E] bool
    bridge_at: Tensor  # [E, O]
    bridge_length: Tensor
    bridges_known: Tensor
    support: Tensor  # [E, L]: 1 right, 0 not
    right: tuple[tuple[tuple[int, ...], ...], ...]  # token ids of the right answers

    def to(self, device: torch.device) -> "Batch":
        moved: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in moved.items():
            moved[name] = value.to(device) if isinstance(value, Tensor) else value
        return Batch(**moved)


def collate(composed: Sequence[Composed], shape: ReaderShape, *, pad: int) -> Batch:
    """Pads layouts to one width and turns targets into positions of the padded prompt."""
    width = max(c.layout.ids_WT.shape[1] for c in composed)
    fills = (pad, 0, -1, 0, 0, 0)
    ids, marks, evidence, pointable, first, last = (
        _stack(arrays, width, fill) for *arrays, fill in zip(*(c.layout.arrays for c in composed), fills, strict=True)
    )
    rows = [_Positions(c.layout, width) for c in composed]
    answers = [_spans(r, c.target.answers, shape.answer) for r, c in zip(rows, composed, strict=True)]
    bridges = [_spans(r, c.target.bridges or (), shape.bridge) for r, c in zip(rows, composed, strict=True)]
    cites = [r.marks(c.target.cites or ()) for r, c in zip(rows, composed, strict=True)]
    support = torch.zeros(len(composed), ids.shape[1] * width)
    for row, at in enumerate(cites):
        support[row, at] = 1.0
    return Batch(
        ids,
        marks,
        evidence,
        pointable,
        first,
        last,
        torch.tensor([KINDS.index(c.target.kind) for c in composed]),
        _ragged([[at for at, _ in a] for a in answers]),
        _ragged([[n for _, n in a] for a in answers]),
        torch.tensor([(*c[: shape.cite], *[END] * (shape.cite - len(c))) for c in cites]),
        torch.tensor([c.target.cites is not None for c in composed]),
        _ragged([[at for at, _ in b] for b in bridges]),
        _ragged([[n for _, n in b] for b in bridges]),
        torch.tensor([c.target.bridges is not None for c in composed]),
        support,
        tuple(c.right for c in composed),
    )


def _stack(arrays: Sequence[NDArray[Any]], width: int, fill: int) -> Tensor:
    padded = [np.pad(a, ((0, 0), (0, width - a.shape[1])), constant_values=fill) for a in arrays]
    return torch.from_numpy(np.stack(padded))


def _ragged(rows: Sequence[Sequence[int]]) -> Tensor:
    most = max(1, *(len(r) for r in rows)) if rows else 1
    return torch.tensor([[*r, *[-1] * (most - len(r))] for r in rows])


class _Positions:
    """Places in texts to positions in the padded prompt."""

    def __init__(self, layout: Layout, width: int) -> None:
        self.layout = layout
        own = layout.ids_WT.shape[1]
        self.of = (np.arange(layout.ids_WT.size) // own) * width + np.arange(layout.ids_WT.size) % own

    def span(self, place: Place) -> tuple[int, int] | None:
        """First position and length; None when a window's edge cuts it."""
        mine = np.flatnonzero((self.layout.evidence_WT == place.text) & self.layout.pointable_WT)
        at = mine[place.first : place.first + place.length]
        if len(at) != place.length or at[-1] - at[0] != place.length - 1:
            return None
        return int(self.of[at[0]]), place.length

    def marks(self, cites: Sequence[tuple[int, int]]) -> list[int]:
        """Positions of marks, in reading order as they stand in the prompt."""
        layout = self.layout
        found: set[int] = set()
        for text, sentence in cites:
            mine = layout.evidence_WT == text
            if sentence == WHOLE:
                at = np.flatnonzero(mine & (layout.marks_WT == MARK_TITLE))[:1]
                if not at.size:
                    at = np.flatnonzero(mine & (layout.marks_WT == MARK_SENTENCE))[:1]
            else:
                at = np.flatnonzero(mine & (layout.marks_WT == MARK_SENTENCE) & (layout.sentence_WT == sentence))
            found.update(int(self.of[a]) for a in at)
        return sorted(found)


def _spans(positions: _Positions, places: Sequence[Place], longest: int) -> list[tuple[int, int]]:
    return [s for p in places if p.length <= longest and (s := positions.span(p)) is not None]


def losses(reader: Reader, batch: Batch, *, pad: int, generator: torch.Generator) -> dict[str, Tensor]:
    """Mean losses by part; their sum is what to minimise."""
    encoded = reader.encode(batch.ids, batch.marks, batch.evidence, batch.pointable, batch.first, batch.last, pad=pad)
    E = batch.ids.shape[0]
    blank = torch.full((E, 1, reader.shape.slots), MASK, device=batch.ids.device)
    drafted = reader.predict(encoded, blank)
    first = part_losses(drafted, encoded, batch, blank, reader.shape)
    canvas, right = corrupt(drafted, encoded, batch, reader.shape, generator)
    again = reader.predict(encoded, canvas)
    second = part_losses(again, encoded, batch, canvas, reader.shape)
    total = {name: WEIGHTS[name] * (first[name] + SECOND * second[name]) for name in first}
    total["check"] = WEIGHTS["check"] * _check_loss(again, right)
    total["support"] = WEIGHTS["support"] * _support_loss(drafted, encoded, batch)
    return total


def part_losses(
    predicted: Predicted, encoded: Encoded, batch: Batch, canvas_EDN: Tensor, shape: ReaderShape
) -> dict[str, Tensor]:
    """Answer, kind, citation and bridge losses of one canvas an example (D = 1)."""
    masked = canvas_EDN[:, 0] == MASK
    kind = F.cross_entropy(predicted.kind_EDK[:, 0], batch.kind, reduction="none")
    has_answer = (batch.answer_at >= 0).any(1) & (batch.kind == SPAN)
    answer = _span_loss(
        predicted.start_EDL[:, 0], predicted.stop_EDAL[:, 0], encoded, batch.answer_at, batch.answer_length
    )
    has_bridge = (batch.bridge_at >= 0).any(1)
    bridge = _span_loss(
        predicted.bridge_start_EDL[:, 0],
        predicted.bridge_stop_EDBL[:, 0],
        encoded,
        batch.bridge_at,
        batch.bridge_length,
    )
    some = F.binary_cross_entropy_with_logits(predicted.bridge_some_ED[:, 0], has_bridge.float(), reduction="none")
    return {
        "answer": _mean(answer, has_answer),
        "kind": _mean(kind, masked[:, KIND]),
        "cite": _cite_loss(predicted, batch, masked[:, shape.part("cite")]),
        "bridge": _mean(bridge, has_bridge) + _mean(some, batch.bridges_known),
    }


def _mean(loss_E: Tensor, use_E: Tensor) -> Tensor:
    """Mean over the examples in use, over the whole batch's size, so that rare parts do not shout."""
    return torch.where(use_E, loss_E, 0.0).sum() / loss_E.shape[0]


def _span_loss(start_EL: Tensor, stop_EAL: Tensor, encoded: Encoded, at_EO: Tensor, length_EO: Tensor) -> Tensor:
    scores = gold_scores(start_EL, stop_EAL, encoded.last_EL, at_EO.clamp(min=0), length_EO.clamp(min=1))
    return -scores.masked_fill(at_EO < 0, -1e4).logsumexp(1)


def _cite_loss(predicted: Predicted, batch: Batch, masked_EM: Tensor) -> Tensor:
    log_p = predicted.cite_EDML[:, 0]
    target = torch.where(batch.cite_at == END, log_p.shape[-1] - 1, batch.cite_at)
    loss = -log_p.gather(-1, target[..., None]).squeeze(-1)
    ended = (batch.cite_at == END).long().cumsum(1)
    weight = torch.where(ended > 1, LATE, 1.0) * masked_EM * batch.cites_known[:, None]
    return (loss * weight).sum() / loss.shape[0]


def _check_loss(predicted: Predicted, right_E: Tensor) -> Tensor:
    use = right_E >= 0
    loss = F.binary_cross_entropy_with_logits(predicted.check_ED[:, 0], right_E.clamp(min=0), reduction="none")
    return _mean(loss, use)


def _support_loss(drafted: Predicted, encoded: Encoded, batch: Batch) -> Tensor:
    use = encoded.mark_EL & batch.cites_known[:, None]
    loss = F.binary_cross_entropy_with_logits(drafted.support_EDL[:, 0], batch.support, reduction="none")
    each = torch.where(use, loss, 0.0).sum(1) / use.sum(1).clamp(min=1)
    return each.mean()


@torch.no_grad()
def corrupt(
    drafted: Predicted, encoded: Encoded, batch: Batch, shape: ReaderShape, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """A second canvas [E, 1, N], partly committed and partly wrong, and how right its answer is: F1, or -1 for no answer."""
    E = batch.ids.shape[0]
    chance = torch.rand(E, 4, generator=generator)
    draw = torch.rand(E, 8, generator=generator)
    table = span_scores(drafted.start_EDL[:, 0], drafted.stop_EDAL[:, 0], encoded.last_EL, encoded.run_EL)
    own = _drawn(table, generator)
    canvas = torch.full((E, shape.slots), MASK)
    right = torch.full((E,), -1.0)
    host = _Host(batch, encoded)
    for e in range(E):
        share = float(draw[e, 0])
        if chance[e, 0] < share:
            canvas[e, KIND] = host.kind(e, float(draw[e, 1]), generator)
        span = host.answer(e, own[e], float(draw[e, 2]), generator, shape.answer)
        if span is not None and chance[e, 1] < 0.3 + 0.7 * share:
            _write(canvas[e, shape.part("answer")], *span)
            right[e] = host.rightness(e, *span)
            if draw[e, 3] < 0.25:
                hide = torch.rand(shape.answer, generator=generator) < 0.5
                canvas[e, shape.part("answer")][hide] = MASK
                right[e] = -1.0
        if chance[e, 2] < share:
            host.cite(e, canvas[e, shape.part("cite")], generator)
        if chance[e, 3] < share and (bridge := host.bridge(e)) is not None:
            _write(canvas[e, shape.part("bridge")], *bridge)
    device = batch.ids.device
    return canvas[:, None].to(device), right.to(device)


def _drawn(table_EAL: Tensor, generator: torch.Generator) -> list[tuple[int, int]]:
    """A span an example from the model's own distribution: position and length."""
    L = table_EAL.shape[2]
    p = table_EAL.flatten(1).float().softmax(1).cpu()
    p = torch.where(p.isfinite(), p, 0.0) + 1e-12
    picked = torch.multinomial(p, 1, generator=generator)[:, 0]
    return [(int(i) % L, int(i) // L + 1) for i in picked]


def _write(slots: Tensor, at: int, length: int) -> None:
    length = min(length, len(slots))
    slots[:length] = torch.arange(at, at + length)
    slots[length:] = END


class _Host:
    """The batch's targets on the CPU, and the ways to say them wrong."""

    def __init__(self, batch: Batch, encoded: Encoded) -> None:
        self.batch = batch
        self.ids = batch.ids.flatten(1).tolist()
        self.answer_at, self.answer_length = batch.answer_at.tolist(), batch.answer_length.tolist()
        self.bridge_at, self.bridge_length = batch.bridge_at.tolist(), batch.bridge_length.tolist()
        self.kinds, self.cites = batch.kind.tolist(), batch.cite_at.tolist()
        self.mark_at = [m.nonzero()[:, 0].tolist() for m in encoded.mark_EL.cpu()]
        self.runs = encoded.run_EL.tolist()

    def kind(self, e: int, draw: float, generator: torch.Generator) -> int:
        other = int(torch.randint(len(KINDS), (1,), generator=generator))
        return other if draw < 0.1 else int(self.kinds[e])

    def answer(
        self, e: int, own: tuple[int, int], draw: float, generator: torch.Generator, longest: int
    ) -> tuple[int, int] | None:
        """Half the time what the model itself said, else the right span, or one that misses it by a few tokens."""
        gold = [(a, n) for a, n in zip(self.answer_at[e], self.answer_length[e], strict=True) if a >= 0]
        if self.kinds[e] != SPAN or not gold:
            return own if draw < 0.5 else None
        if draw < 0.5:
            return own
        at, length = gold[int(torch.randint(len(gold), (1,), generator=generator))]
        if draw > 0.85:
            shift, grow = torch.randint(-3, 4, (2,), generator=generator).tolist()
            near = at + shift
            if 0 <= near < len(self.runs[e]) and self.runs[e][near] > 0:
                return near, max(1, min(length + grow, self.runs[e][near], longest))
        return at, length

    def rightness(self, e: int, at: int, length: int) -> float:
        """Token F1 against the nearest right answer; 0 where no span is right."""
        said = self.ids[e][at : at + length]
        return max((_overlap(said, gold) for gold in self.batch.right[e]), default=0.0)

    def cite(self, e: int, slots: Tensor, generator: torch.Generator) -> None:
        keep = torch.rand(len(slots), 2, generator=generator).tolist()
        for slot, at in enumerate(self.cites[e]):
            if keep[slot][0] < 0.6 and bool(self.batch.cites_known[e]):
                wrong = keep[slot][1] < 0.15 and self.mark_at[e]
                pick = int(torch.randint(len(self.mark_at[e]), (1,), generator=generator)) if wrong else 0
                slots[slot] = self.mark_at[e][pick] if wrong else at

    def bridge(self, e: int) -> tuple[int, int] | None:
        return (self.bridge_at[e][0], self.bridge_length[e][0]) if self.bridge_at[e][0] >= 0 else None


def _overlap(said: Sequence[int], gold: Sequence[int]) -> float:
    left, shared = list(gold), 0
    for token in said:
        if token in left:
            left.remove(token)
            shared += 1
    return 2 * shared / (len(said) + len(gold)) if said and gold else 0.0
