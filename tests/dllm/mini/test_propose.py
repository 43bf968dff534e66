"""Which sentences are cited: what the slots point at and what the prompt itself says, weighed together."""

from collections.abc import Sequence

import pytest
import torch
from remask.dllm.mini.model import END, MASK, Predicted, ReaderShape
from remask.dllm.mini.propose import CITED_FROM, SUPPORT_SHARE, _propose_cites

SHAPE, L = ReaderShape(), 12
MARKS = (2, 5, 9)
SURE, OFF = 20.0, -20.0  # logits


def proposed(
    slots: Sequence[dict[int, float]], support: dict[int, float], held: Sequence[int] = ()
) -> tuple[list[int], list[float]]:
    """`slots`: what each citation slot thinks of marks, the rest of it an end; `support`: logits of marks; `held`: what is
    committed from the first slot on."""
    part = SHAPE.part("cite")
    p = torch.zeros(1, 1, SHAPE.cite, L + 1)
    for m in range(SHAPE.cite):
        for at, share in (slots[m] if m < len(slots) else {}).items():
            p[0, 0, m, at] = share
        p[0, 0, m, L] = 1 - p[0, 0, m].sum()
    logits = torch.full((1, 1, L), SURE)  # where there is no mark, nothing is meant by it
    for at in MARKS:
        logits[..., at] = support.get(at, OFF)
    nothing = torch.zeros(1, 1)
    predicted = Predicted(nothing, nothing, nothing, nothing, p.log(), nothing, nothing, nothing, logits)
    ids = torch.full((1, SHAPE.slots), MASK)
    ids[0, part.start : part.start + len(held)] = torch.tensor(held, dtype=torch.long)
    confidence = torch.zeros(1, SHAPE.slots)
    mark = torch.zeros(L, dtype=torch.bool)
    mark[list(MARKS)] = True
    _propose_cites(ids, confidence, predicted, mark, SHAPE)
    return ids[0, part].tolist(), confidence[0, part].tolist()


def test_what_is_pointed_at_or_nearly_and_borne_out_is_cited_in_reading_order() -> None:
    ids, sure = proposed([{9: 0.9}, {2: 0.2, 5: 0.2}], {2: SURE})
    assert ids == [2, 9, END, END]
    assert sure == pytest.approx([0.7 * 0.2 + 0.3, 0.7 * 0.9, 1 - 0.7 * 0.2, 1 - 0.7 * 0.2], abs=1e-4)


def test_slots_that_share_their_doubt_about_one_sentence_cite_it_together() -> None:
    assert proposed([{5: 0.4}, {5: 0.4}], {})[0] == [5, END, END, END]


def test_the_best_is_cited_where_none_is_good_enough_but_not_against_the_first_slot() -> None:
    assert CITED_FROM > SUPPORT_SHARE
    assert proposed([{2: 0.3, 5: 0.25, 9: 0.25}], {})[0] == [2, END, END, END]
    assert proposed([{2: 0.3}], {5: SURE})[0] == [END] * 4


def test_what_is_committed_stays_and_is_not_cited_twice() -> None:
    assert proposed([{2: 1.0}, {2: 0.5, 9: 0.5}, {9: 0.4}], {}, held=[2])[0] == [2, 9, END, END]
    assert proposed([{2: 1.0}, {2: 0.6, 9: 0.4}], {}, held=[9])[0] == [9, 2, END, END]


def test_nothing_follows_a_committed_end() -> None:
    assert proposed([{2: 1.0}, {9: 1.0}], {}, held=[END])[0] == [END] * 4
    assert proposed([{2: 1.0}, {9: 1.0}, {5: 1.0}], {}, held=[2, MASK, END])[0] == [2, 9, END, END]


def test_no_more_are_cited_than_there_are_slots() -> None:
    ids, _ = proposed([{2: 0.9, 9: 0.1}, {5: 0.9, 9: 0.1}], {9: SURE}, held=[MASK, MASK, END])
    assert ids == [2, 5, END, END]
