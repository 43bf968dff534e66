"""Known causes that fit a behaviour: searched for in `documents/`, quoted where they stand."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from remask.retrieval import Index, load

DOCUMENTS = Path(__file__).parent / "documents"


class Cause(NamedTuple):
    """A known cause. Always: the document's text from `start` to `end` is the quote."""

    document_id: str
    title: str
    start: int
    end: int
    quote: str
    score: float


@cache
def index() -> Index:
    return Index.create(load(DOCUMENTS))


def known_causes(behaviour: str, lines: list[str], *, most: int = 3) -> list[Cause]:
    """The causes whose notes fit the behaviour and the suspicious lines best, best first."""
    return [_cause(hit.passage.document_id, hit.score) for hit in index().search(" ".join([behaviour, *lines]), most)]


def _cause(document_id: str, score: float) -> Cause:
    """From "The cause is" to the end of its sentence; a note without one is quoted whole."""
    document = index().document(document_id)
    begin = document.text.find("The cause is")
    stop = document.text.find(".", begin) + 1
    start, end = (begin, stop) if begin >= 0 and stop else (0, len(document.text))
    return Cause(document_id, document.title, start, end, document.text[start:end], score)
