"""A question with its right answers. Knows no file and no model."""

from collections.abc import Mapping
from dataclasses import dataclass

Fact = tuple[str, int]
"""A supporting sentence: its paragraph's title and its number there, from 0. -1 means the whole paragraph."""

WHOLE = -1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`"".join(sentences)` is its text."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` is empty where the paragraphs carry none; `facts` is None where nobody marked any."""

    id: str
    text: str
    answers: tuple[str, ...]
    facts: tuple[Fact, ...] | None
    paragraphs: tuple[Paragraph, ...]
    type: str = ""
    level: str = ""

    @property
    def gold_titles(self) -> frozenset[str]:
        return frozenset(title for title, _ in self.facts or ())


@dataclass(frozen=True, slots=True)
class Topic:
    """A query and how relevant each text is to it (0: not at all), by the key that a ranking is made of."""

    id: str
    text: str
    relevance: Mapping[str, int]
