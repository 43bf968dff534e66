"""From the ids of a canvas to a text whose every character knows its slot, and the markers it cites by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..conversation import kind_of
from ..draft import CanvasPass, Draft, Mark, Token
from ..marker import unmarked
from .tokenizer import Tokenizer

_BROKEN = "\ufffd"


class Written(NamedTuple):
    """`spans`: where each slot's characters are in `text`; an end, a marker and what was cut away have none. `marks`: what
    the markers that stood in it name."""

    text: str
    spans: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class WrittenDraft(Draft):
    """A draft that keeps its canvas, so that refining changes slots and not a second tokenization of its text."""

    ids: tuple[int, ...] = ()
    sure: tuple[float, ...] = ()
    """The confidence of every slot when it was committed."""
    grounds: tuple[float, ...] = ()
    """How many nats the evidence changed what the model would say in each slot; empty where that was not looked at."""


@dataclass(frozen=True, slots=True)
class WrittenPass(CanvasPass):
    """A pass with the ids of its canvas, for whoever streams tokens."""

    ids: tuple[int, ...] = ()


def written(tokenizer: Tokenizer, ids: Sequence[int], *, shown: int) -> Written:
    """The answer up to its first end, without the blanks around it and without its markers of the `shown` texts."""
    said = list(ids)[: length(tokenizer, ids)]
    bounds, text = _bounds(tokenizer, said)
    found = unmarked(text, shown=shown)
    spans = [found.span(start, end) for start, end in bounds]
    return Written(found.text, (*spans, *[(0, 0)] * (len(ids) - len(said))), found.marks)


def drafted(tokenizer: Tokenizer, ids: Sequence[int], confidence: Sequence[float], *, shown: int) -> WrittenDraft:
    """The draft that the slots say: its confidence is the geometric mean over its tokens and its end."""
    said = written(tokenizer, ids, shown=shown)
    until = confidence[: length(tokenizer, ids) + 1]
    sure = min(1.0, math.exp(sum(math.log(max(c, 1e-9)) for c in until) / len(until)))
    pairs = zip(said.spans, confidence, strict=True)
    tokens = tuple(Token(start, stop, min(1.0, c)) for (start, stop), c in pairs if stop > start)
    kind = kind_of(said.text)
    none = kind == "none"
    return WrittenDraft(
        "" if none else said.text,
        () if none else tokens,
        kind,
        confidence=sure,
        answerable=1.0 - sure if none else 1.0,
        marks=() if none else said.marks,
        ids=tuple(ids),
        sure=tuple(confidence),
    )


def length(tokenizer: Tokenizer, ids: Sequence[int]) -> int:
    """How many slots come before the first end."""
    return next((slot for slot, id_ in enumerate(ids) if id_ in tokenizer.ends), len(ids))


def _bounds(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[list[tuple[int, int]], str]:
    """Every slot's first character and last (exclusive). Slots that share one character, as the bytes of it may, all span
    it, so that they are masked together."""
    texts = [tokenizer.decode(ids[:count]) for count in range(1, len(ids) + 1)]
    bounds: list[tuple[int, int]] = []
    done = opened = 0
    for text in texts:
        bounds.append((done, 0))
        if text.endswith(_BROKEN):
            continue
        bounds[opened:] = [(start, len(text)) for start, _ in bounds[opened:]]
        done, opened = len(text), len(bounds)
    whole = texts[-1] if texts else ""
    bounds[opened:] = [(start, len(whole)) for start, _ in bounds[opened:]]
    return bounds, whole
