"""What the embedded reader would write in every slot of a canvas, read off jointly, so that parallel slots agree.

Knows canvases and scores. Does not know text.
"""

# B canvases of one prompt, N slots, L positions, A answer slots.

from typing import NamedTuple

import torch
from torch import Tensor

from ..denoise import Proposal
from .model import CHECK, END, KIND, KINDS, MASK, Encoded, Part, Predicted, Reader, ReaderShape
from .spans import span_scores

SPAN = KINDS.index("span")
# What a citation rests on, chosen by supporting-fact F1 on 142 HotpotQA rows that are not measured with, 42 of them held out.
SUPPORT_SHARE = 0.3  # how much the prompt's own judgement of a sentence counts; the rest is what the slots point at
CITED_FROM = 0.4  # a sentence that reaches this much is cited


class Reading(NamedTuple):
    """A proposal, and the scores it was read off."""

    proposal: Proposal
    predicted: Predicted
    table_BAL: Tensor
    """Log-probability of every answer span that fits what is committed, see `spans.span_scores`."""


def blank_canvas(shape: ReaderShape, rows: int) -> Tensor:
    """All masked, but for the check slot, which is only ever read."""
    canvas = torch.full((rows, shape.slots), MASK)
    canvas[:, CHECK] = END
    return canvas


def read(reader: Reader, encoded: Encoded, canvas_BN: Tensor) -> Reading:
    """One pass. Committed slots are proposed again as they are."""
    return read_off(reader.shape, encoded, canvas_BN, reader.predict(encoded, canvas_BN[None]))


def read_off(shape: ReaderShape, encoded: Encoded, canvas_BN: Tensor, predicted: Predicted) -> Reading:
    """What a pass over these canvases of one prompt proposes."""
    B = canvas_BN.shape[0]
    last, run = encoded.last_EL.expand(B, -1), encoded.run_EL.expand(B, -1)
    table = span_scores(predicted.start_EDL[0], predicted.stop_EDAL[0], last, run)
    fitting = _fitting(table, canvas_BN[:, shape.part("answer")])
    ids, confidence = canvas_BN.clone(), torch.ones(canvas_BN.shape)
    _propose_kind(ids, confidence, predicted)
    _propose_answer(ids, confidence, fitting, predicted, shape)
    _propose_cites(ids, confidence, predicted, encoded.mark_EL[0], shape)
    _propose_bridge(ids, confidence, predicted, last, run, shape)
    held = canvas_BN != MASK
    ids, confidence = torch.where(held, canvas_BN, ids), torch.where(held, 1.0, confidence)
    return Reading(Proposal(ids, confidence.clamp(0, 1)), predicted, fitting)


def _fitting(table_BAL: Tensor, slots_BA: Tensor) -> Tensor:
    """The table without the spans that contradict a committed slot. A row that contradicts itself keeps its first slot."""
    rows = [_fitting_row(t, s.tolist()) for t, s in zip(table_BAL, slots_BA, strict=True)]
    return torch.stack(rows)


def _fitting_row(table_AL: Tensor, slots: list[int]) -> Tensor:
    A, L = table_AL.shape
    kept = table_AL
    for j, held in enumerate(slots):
        if held == MASK:
            continue
        allowed = torch.ones(A, L, dtype=torch.bool)
        if held == END:
            allowed[j:] = False
        else:
            allowed[:] = False
            if 0 <= held - j < L:
                allowed[j:, held - j] = True
        trial = kept.masked_fill(~allowed, float("-inf"))
        if torch.isfinite(trial).any():
            kept = trial
    return kept


def _propose_kind(ids_BN: Tensor, confidence_BN: Tensor, predicted: Predicted) -> None:
    p, kind = predicted.kind_EDK[0].softmax(-1).max(-1)
    held = ids_BN[:, KIND] != MASK
    ids_BN[:, KIND] = torch.where(held, ids_BN[:, KIND], kind)
    confidence_BN[:, KIND] = p


def _propose_answer(
    ids_BN: Tensor, confidence_BN: Tensor, table_BAL: Tensor, predicted: Predicted, shape: ReaderShape
) -> None:
    """The likeliest whole span that fits; nothing where the kind is not a span or no span is left."""
    part = shape.part("answer")
    p_kind = predicted.kind_EDK[0].softmax(-1)
    for row, table in enumerate(table_BAL):
        if int(ids_BN[row, KIND]) != SPAN or not torch.isfinite(table).any():
            ids_BN[row, part] = END
            confidence_BN[row, part] = 1 - p_kind[row, SPAN]
            continue
        at, length = best_span(table)
        p_AL = table.flatten().softmax(0).view_as(table)
        going = p_AL[:, at].flip(0).cumsum(0).flip(0)  # probability that the span from here has more than j tokens
        slots = torch.full((shape.answer,), END)
        slots[:length] = torch.arange(at, at + length)
        sure = torch.full((shape.answer,), float(p_AL[length - 1, at]))
        sure[:length] = going[:length]
        ids_BN[row, part], confidence_BN[row, part] = slots, sure


def best_span(table_AL: Tensor) -> tuple[int, int]:
    """First position and number of tokens of the likeliest span."""
    index = int(table_AL.flatten().argmax())
    return index % table_AL.shape[1], index // table_AL.shape[1] + 1


def _propose_cites(
    ids_BN: Tensor, confidence_BN: Tensor, predicted: Predicted, mark_L: Tensor, shape: ReaderShape
) -> None:
    """The marks that reach `CITED_FROM`, in reading order, none twice; then ends. The best one alone where none does, unless
    the first slot favours an end. After a committed end nothing follows."""
    part = shape.part("cite")
    for row, p_ML in enumerate(predicted.cite_EDML[0].exp()):
        slots = ids_BN[row, part].tolist()
        held = [at for at in slots if at >= 0]
        open_to = slots.index(END) if END in slots else len(slots)
        free = [m for m, at in enumerate(slots) if at == MASK]
        pointing = [m for m in free if m < open_to]
        share = _shares(p_ML[pointing], predicted.support_EDL[0, row], mark_L)
        share[held] = 0.0
        ranked = share.sort(descending=True)
        count = min(int((ranked.values >= CITED_FROM).sum()), len(pointing))
        if not count and not held and pointing and ranked.values[0] > 0:
            count = int(int(p_ML[0].argmax()) < len(share))
        chosen = ranked.indices[:count].sort().values
        slot = part.start + torch.tensor(free, dtype=torch.long)
        ids_BN[row, slot[:count]], confidence_BN[row, slot[:count]] = chosen, share[chosen]
        ids_BN[row, slot[count:]], confidence_BN[row, slot[count:]] = END, 1 - share.index_fill(0, chosen, 0.0).max()


def _shares(p_ML: Tensor, support_L: Tensor, mark_L: Tensor) -> Tensor:
    """[L]: what speaks for citing what begins at each mark; 0 where there is none."""
    pointed_L = p_ML[:, :-1].sum(0).clamp(max=1)
    return ((1 - SUPPORT_SHARE) * pointed_L + SUPPORT_SHARE * support_L.sigmoid()).where(mark_L, 0.0)


def _propose_bridge(
    ids_BN: Tensor, confidence_BN: Tensor, predicted: Predicted, last_BL: Tensor, run_BL: Tensor, shape: ReaderShape
) -> None:
    part = shape.part("bridge")
    some = predicted.bridge_some_ED[0].sigmoid()
    table_BAL = span_scores(predicted.bridge_start_EDL[0], predicted.bridge_stop_EDBL[0], last_BL, run_BL)
    for row, table in enumerate(table_BAL):
        slots = torch.full((shape.bridge,), END)
        sure = torch.maximum(some[row], 1 - some[row]).expand(shape.bridge).clone()
        if some[row] > 0.5 and torch.isfinite(table).any():
            at, length = best_span(table)
            slots[:length] = torch.arange(at, at + length)
            sure *= table.flatten().softmax(0).max()
        ids_BN[row, part], confidence_BN[row, part] = slots, sure


def part_slots(canvas_N: Tensor, shape: ReaderShape, part: Part) -> list[int]:
    """The committed positions of a part, up to its end; masked slots in between are skipped."""
    held = []
    for value in canvas_N[shape.part(part)].tolist():
        if value == END:
            break
        if value >= 0:
            held.append(int(value))
    return held
