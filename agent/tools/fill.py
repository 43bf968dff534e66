"""The masked values of a call, found in the question: by type where a rule knows it, else pointed at by a reader.

A value is only ever a piece of the question. What documents or tools say never becomes an argument.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dllm.draft import Evidence, Generator, Prompt, finish
from ...dllm.errors import ModelError
from ...retrieval.sentences import sentences
from ..memory.mentions import mentions
from ..support import content_words
from .slot import Slot
from .values import Found, found, read

Pointer = Callable[[str, str], tuple[int, int, float] | None]
"""Given a question and a text: the characters of the text that answer it, and how sure it is, 0..1."""
LEAST_SURE = 0.3
"""Of a pointer, for an argument in free text."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The values by name, and the characters of the question that say them. `missing`: required, but not found."""

    values: dict[str, Any]
    spans: tuple[tuple[int, int], ...]
    missing: tuple[str, ...]


def fill(
    wanted: Sequence[Slot], question: str, point: Pointer | None = None, *, least_sure: float = LEAST_SURE
) -> Filled:
    """What types tell apart first, then choices, then free text: what is taken by one slot is not another's. As many values
    as slots of a type go to them in order ("3 + 4")."""
    taken: list[Found] = []
    values: dict[str, Any] = {}
    for slot in sorted(wanted, key=_rank):
        free = [f for f in found(slot, question) if not _overlaps(f, taken)]
        if len(free) > 1 and len(free) == _alike(slot, wanted, values):
            free = free[:1]
        chosen = _chosen(slot, free, question, point, taken, least_sure)
        if chosen:
            taken += chosen
            values[slot.name] = [f.value for f in chosen] if slot.many else chosen[0].value
    missing = tuple(slot.name for slot in wanted if slot.required and slot.name not in values)
    return Filled(values, tuple(sorted((f.start, f.end) for f in taken)), missing)


def pointer(generator: Generator, *, seed: int = 0) -> Pointer:
    """A generator as a pointer: its draft counts where it is a piece of the text."""

    def point(question: str, text: str) -> tuple[int, int, float] | None:
        spans = tuple((s.start, s.end) for s in sentences(text))
        try:
            draft = finish(
                generator.draft(Prompt(question, (Evidence(text, sentences=spans),)), max_passes=2, seed=seed)
            )[0]
        except ModelError:
            return None  # then the argument counts as missing, and nothing is called
        at = text.find(draft.text) if draft.kind == "span" and draft.text.strip() else -1
        return (at, at + len(draft.text), draft.confidence) if at >= 0 else None

    return point


def _rank(slot: Slot) -> tuple[int, bool]:
    """Patterns, dates and choices are surest, then numbers, then free text; required ones before optional ones."""
    order = {"date": 1, "datetime": 1, "choice": 1, "integer": 2, "number": 2, "boolean": 1, "text": 3}
    return (0 if slot.pattern else order[slot.kind]), not slot.required


def _chosen(
    slot: Slot,
    free: Sequence[Found],
    question: str,
    point: Pointer | None,
    taken: Sequence[Found],
    least_sure: float,
) -> list[Found]:
    if slot.many:
        return list(free)
    if len(free) == 1 or (free and all(f.value == free[0].value for f in free)):
        return [free[0]]
    if free:
        return _nearest(slot, free, question)
    if slot.kind == "text" and not slot.pattern:
        return _pointed(slot, question, point, taken, least_sure)
    return []


def _nearest(slot: Slot, free: Sequence[Found], question: str) -> list[Found]:
    """Of several values, the one beside a word of the slot's name or description; none where two are as near."""
    named = content_words(f"{slot.name.replace('_', ' ')} {slot.description}")
    beside = [f for f in free if named & content_words(question[max(0, f.start - 24) : f.end + 24])]
    return beside if len(beside) == 1 else []


def _alike(slot: Slot, wanted: Sequence[Slot], filled: Mapping[str, Any]) -> int:
    """How many required slots that are still open look for just such values."""
    return sum(
        other.name not in filled
        and other.required
        and not other.many
        and (other.kind, other.pattern, other.choices) == (slot.kind, slot.pattern, slot.choices)
        for other in wanted
    )


def _pointed(
    slot: Slot, question: str, point: Pointer | None, taken: Sequence[Found], least_sure: float
) -> list[Found]:
    """What the reader points at, where it is sure; a name that stands alone in the question needs no reader."""
    names = [Found(m.text, m.start, m.end) for m in mentions(question) if m.name]
    free = _joined([f for f in names if not _overlaps(f, taken)], question)
    if len(free) == 1:
        return free
    pointed = point(f"What is the {slot.phrase}?", question) if point else None
    if pointed is None or pointed[2] < least_sure:
        return []
    value = read(slot, question[pointed[0] : pointed[1]])
    span = Found(value.value, pointed[0], pointed[1]) if value else None
    return [span] if span and not _overlaps(span, taken) else []


def _joined(names: Sequence[Found], question: str) -> list[Found]:
    """Names with only a comma between them are one ("San Francisco, CA")."""
    joined: list[Found] = []
    for name in names:
        if joined and question[joined[-1].end : name.start].strip() == ",":
            start = joined.pop().start
            joined.append(Found(question[start : name.end], start, name.end))
        else:
            joined.append(name)
    return joined


def _overlaps(one: Found, others: Sequence[Found]) -> bool:
    return any(one.start < other.end and other.start < one.end for other in others)
