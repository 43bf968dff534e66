"""What a draft is worth: the model's confidence and the evidence's support in one number. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..dllm.draft import Draft
from .answer import Candidate, Stage
from .cite import Ground, grounds, settled, statements
from .evidence import Reading
from .support import Scorer, numbers


@dataclass(frozen=True, slots=True)
class Weighed:
    """A settled draft with the reading it was made from."""

    draft: Draft
    reading: Reading
    grounds: tuple[Ground, ...]
    support: float
    weight: float

    @property
    def answers(self) -> bool:
        return self.draft.kind != "none" and bool(self.draft.text.strip())


def weigh(draft: Draft, reading: Reading, scorer: Scorer, *, support_share: float) -> Weighed:
    draft = settled(draft, reading)
    found = tuple(grounds(draft, reading))
    support = draft_support(draft, reading.prompt.question, found, scorer)
    return Weighed(draft, reading, found, support, combined(draft.confidence, support, support_share))


def combined(confidence: float, support: float, support_share: float) -> float:
    """The weighted geometric mean, so that neither makes up for a lack of the other.

    >>> combined(0.81, 0.25, 0.5)
    0.45
    """
    inside = min(max(confidence, 0.0), 1.0), min(max(support, 0.0), 1.0)
    return float(inside[0] ** (1 - support_share) * inside[1] ** support_share)


def draft_support(draft: Draft, question: str, found: Iterable[Ground], scorer: Scorer) -> float:
    """The mean over the draft's statements, by length, of what all grounds of a statement together give it.

    0 for a statement without grounds, or with a number that they lack. A draft that says nothing needs no support: 1.
    """
    if draft.kind == "none" or not draft.text.strip():
        return 1.0
    found = list(found)
    if draft.kind in ("yes", "no"):
        return scorer(question, "", together(found)) if found else 0.0
    parts = statements(draft.text)
    total = sum(end - start for start, end in parts)
    return (
        sum((end - start) * _support(draft.text, start, end, question, found, scorer) for start, end in parts) / total
    )


def together(found: Iterable[Ground]) -> str:
    """What several grounds say, each sentence once."""
    return "\n".join(dict.fromkeys(ground.quote.in_context for ground in found))


def candidate(weighed: Weighed, stage: Stage) -> Candidate:
    draft = weighed.draft
    return Candidate(
        text=draft.text,
        kind=draft.kind,
        confidence=draft.confidence,
        answerable=draft.answerable,
        support=weighed.support,
        weight=weighed.weight,
        stage=stage,
    )


def _support(text: str, start: int, end: int, question: str, found: list[Ground], scorer: Scorer) -> float:
    evidence = together(ground for ground in found if ground.start < end and start < ground.end)
    if not evidence or not numbers(text[start:end]) <= numbers(evidence):
        return 0.0
    return scorer(question, text[start:end], evidence)
