"""What is said to a person: a cited answer beside a project's own words. Knows no rule and no model."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from pydantic import Field

from .answer import Answer, Citation, Record

GAP = "\n\n"


class Said(Protocol):
    """What an `Answer` and a `Reply` have in common."""

    @property
    def text(self) -> str: ...
    @property
    def citations(self) -> tuple[Citation, ...]: ...
    @property
    def abstained(self) -> bool: ...
    @property
    def confidence(self) -> float: ...


class Asks(Protocol):
    """An agent, a conversation, or anything around them."""

    def ask(self, question: str) -> Said: ...


class Reply(Record):
    """A text that may hold more than an answer. Its citations' spans count characters of `text`."""

    text: str
    citations: tuple[Citation, ...] = ()
    abstained: bool = Field(default=False, description="Whether no answer from the documents is in it.")
    handed_over: bool = Field(default=False, description="Whether a person takes over.")
    confidence: float = Field(default=0.0, ge=0, le=1)
    rule: str = Field(default="", description="The rule that spoke, where one did.")
    notice: str = Field(default="", description="What no document carries: the project's own words.")
    summary: str = Field(default="", description="For the person who takes over: what was asked and found.")
    answer: Answer | None = Field(
        default=None, description="The agent's own answer with its trace, where it was asked."
    )


def joined(parts: Iterable[Said | str]) -> tuple[str, tuple[Citation, ...]]:
    """The parts with a blank line between them, and the citations of those that have some, moved to where they stand now."""
    text = ""
    citations: list[Citation] = []
    for part in parts:
        said = part if isinstance(part, str) else part.text
        if not said:
            continue
        text += GAP if text else ""
        if not isinstance(part, str):
            citations += _moved(part.citations, len(text))
        text += said
    return text, tuple(citations)


def answer_in(said: Said) -> Answer | None:
    """The agent's own answer inside whatever was said."""
    if isinstance(said, Answer):
        return said
    return said.answer if isinstance(said, Reply) else None


def _moved(citations: Sequence[Citation], by: int) -> list[Citation]:
    return [
        one.model_copy(update={"answer_start": one.answer_start + by, "answer_end": one.answer_end + by})
        for one in citations
    ]
