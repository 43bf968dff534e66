"""Citation recall and precision by ALCE's definitions (Gao et al., EMNLP 2023, section 4; princeton-nlp/ALCE, eval.py).

What entails is ALCE's T5 model there, and here any `Scorer` with a threshold, which a report must name. Pure functions.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..agent.answer import Citation
from ..agent.cite import statements
from ..agent.support import Scorer

Entails = Callable[[str, Sequence[Citation]], bool]
"""Whether some quotations, read together, carry a statement."""


class Cited(NamedTuple):
    """`recall` over statements, `precision` over citations; without any citation both are 0. `support` is the mean, over
    statements, of what the scorer gives their quotations together."""

    recall: float
    precision: float
    support: float


def cited(question: str, answer: str, citations: Sequence[Citation], scorer: Scorer, *, supported_from: float) -> Cited:
    """Of one answer that says something. A bare yes or no is one statement, which the question completes."""
    parts = statements(answer)
    bare = answer.strip(" .!").lower() in ("yes", "no")

    def support(statement: str, shown: Sequence[Citation]) -> float:
        return scorer(question, "" if bare else statement, together(shown)) if shown else 0.0

    def entails(statement: str, shown: Sequence[Citation]) -> bool:
        return support(statement, shown) >= supported_from

    mine = [(answer[start:end], _of(citations, start, end)) for start, end in parts]
    total = sum(len(shown) for _, shown in mine)
    recalled = sum(entails(statement, shown) for statement, shown in mine)
    precise = sum(precise_citations(statement, shown, entails) for statement, shown in mine)
    means = [support(statement, shown) for statement, shown in mine]
    return Cited(recalled / len(parts), precise / total if total else 0.0, sum(means) / len(means))


def precise_citations(statement: str, shown: Sequence[Citation], entails: Entails) -> int:
    """How many of a statement's citations are needed or enough: none where all together don't carry it; else each that
    carries it alone, or without which the others don't."""
    if not shown or not entails(statement, shown):
        return 0
    if len(shown) == 1:
        return 1
    rests = [[*shown[:at], *shown[at + 1 :]] for at in range(len(shown))]
    return sum(
        entails(statement, [one]) or not entails(statement, rest) for one, rest in zip(shown, rests, strict=True)
    )


def together(shown: Sequence[Citation]) -> str:
    """What several quotations say, with their titles, each once."""
    return "\n".join(dict.fromkeys(f"{c.title}: {c.quote}" if c.title else c.quote for c in shown))


def _of(citations: Sequence[Citation], start: int, end: int) -> list[Citation]:
    """Those of a statement, each place once: ALCE, too, counts a document once a sentence."""
    mine = [c for c in citations if c.answer_start < end and start < c.answer_end]
    return list({(c.document_id, c.start, c.end): c for c in mine}.values())
