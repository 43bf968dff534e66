"""What is searched and what is found: documents, passages with exact character offsets, hits that explain themselves.

Knows nothing of models that write.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel, ConfigDict

Scalar = str | int | float | bool
"""A metadata value: what JSON can hold without nesting."""


class Document(BaseModel):
    """One text with an id of the caller's choosing. Every offset in this package counts characters of `text`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    text: str
    title: str = ""
    metadata: dict[str, Scalar] = {}


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that is searched and read as one. Always `document.text[start:end] == text`.

    `sentences` are spans of the *document*, in order, inside `start` and `end`; blanks between sentences belong to none.
    """

    document_id: str
    text: str
    start: int
    end: int
    title: str = ""
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    sentences: tuple[Span, ...] = ()

    @property
    def id(self) -> str:
        """The same in every ranker, so that fusion sees agreement."""
        return f"{self.document_id}#{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one ranker said of a passage: its rank, counted from 1, and its own raw score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. `rankers` maps a ranker's name ("lexical", "dense") to its own verdict, where it had one."""

    passage: Passage
    score: float
    rankers: Mapping[str, Ranked] = field(default_factory=dict)


class Retriever(Protocol):
    """Anything that finds passages. Best first; never more than `k`, fewer when there are no more."""

    def search(self, query: str, k: int, *, where: Mapping[str, Scalar] | None = None) -> list[Hit]: ...
