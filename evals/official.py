"""HotpotQA's metrics, by the rules of its script (hotpotqa/hotpot, hotpot_evaluate_v1.py). Pure functions.

Beyond that script: a question may have several right answers, of which the best counts, or none, to which only saying
nothing is right; and where whole paragraphs are marked instead of sentences, paragraphs are compared.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..dllm.score import normalize
from .question import WHOLE, Fact

FIXED = ("yes", "no", "noanswer")


class Overlap(NamedTuple):
    """How far something said agrees with what is right, each in 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


def answer_overlap(said: str, answers: Sequence[str]) -> Overlap:
    """The best over all right answers, by F1, then by exact match.

    >>> answer_overlap("the answer is Paris", ["Paris"])
    Overlap(em=0.0, f1=0.5, precision=0.3333333333333333, recall=1.0)
    """
    if not answers:
        right = float(not normalize(said))
        return Overlap(right, right, right, right)
    return max((_words_overlap(said, answer) for answer in answers), key=lambda overlap: (overlap.f1, overlap.em))


def fact_overlap(said: Iterable[Fact], gold: Iterable[Fact]) -> Overlap:
    """Compared as sets: the order and repeats don't matter.

    >>> fact_overlap([("A", 0), ("B", 1)], [("A", 0)])
    Overlap(em=0.0, f1=0.6666666666666666, precision=0.5, recall=1.0)
    """
    said, gold = set(said), set(gold)
    if any(number == WHOLE for _, number in gold):
        said, gold = _whole(said), _whole(gold)
    shared = len(said & gold)
    precision = shared / len(said) if said else 0.0
    recall = shared / len(gold) if gold else 0.0
    return Overlap(float(said == gold), _f1(precision, recall), precision, recall)


def joint(answer: Overlap, facts: Overlap) -> Overlap:
    """Precision and recall multiplied, and F1 computed from the products.

    >>> joint(Overlap(0, 0.5, 0.5, 0.5), Overlap(1, 1, 1, 1))
    Overlap(em=0, f1=0.5, precision=0.5, recall=0.5)
    """
    precision, recall = answer.precision * facts.precision, answer.recall * facts.recall
    return Overlap(answer.em * facts.em, _f1(precision, recall), precision, recall)


def scores(answer: str, facts: Iterable[Fact], answers: Sequence[str], gold: Iterable[Fact] | None) -> dict[str, float]:
    """All of it by the official names. Without marked facts only the answer is scored."""
    said = answer_overlap(answer, answers)
    parts = {"": said}
    if gold is not None:
        shown = fact_overlap(facts, gold)
        parts |= {"sp_": shown, "joint_": joint(said, shown)}
    return {
        f"{part}{name}": float(value)
        for part, overlap in parts.items()
        for name, value in zip(("em", "f1", "prec", "recall"), overlap, strict=True)
    }


def _words_overlap(said: str, answer: str) -> Overlap:
    mine, right = normalize(said), normalize(answer)
    exact = float(mine == right)
    if not exact and (mine in FIXED or right in FIXED):
        return Overlap(0.0, 0.0, 0.0, 0.0)
    shared = sum((Counter(mine.split()) & Counter(right.split())).values())
    if not shared:
        # The official script gives an F1 of 0 where neither side has a word, though they are equal.
        return Overlap(exact, 0.0, 0.0, 0.0)
    precision, recall = shared / len(mine.split()), shared / len(right.split())
    return Overlap(exact, _f1(precision, recall), precision, recall)


def _whole(facts: set[Fact]) -> set[Fact]:
    return {(title, WHOLE) for title, _ in facts}


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
