"""Predictions in HotpotQA's official format, written and scored: `{"answer": {id: text}, "sp": {id: [[title, n]..]}}`.

The format: https://github.com/hotpotqa/hotpot, "Prediction File Format".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .asking import Row
from .dataset import read_facts
from .errors import DataUnusable
from .official import scores
from .question import Fact, Question
from .records import Row as Line
from .records import read_object


@dataclass(frozen=True, slots=True)
class Predictions:
    answers: Mapping[str, str]
    facts: Mapping[str, tuple[Fact, ...]]


def to_official(rows: Iterable[Row]) -> dict[str, Any]:
    listed = list(rows)
    facts = {row.id: [[title, number] for title, number in row.facts] for row in listed}
    return {"answer": {row.id: row.answer for row in listed}, "sp": facts}


def read_predictions(path: Path) -> Predictions:
    """Raises DataUnusable, which names the key. An empty answer is one: it counts as wrong."""
    line = Line(str(path), read_object(path))
    answers, facts = line.get("answer"), line.get("sp")
    for key, value in (("answer", answers), ("sp", facts)):
        if not isinstance(value, dict):
            raise line.wrong(key, value, "an object of question ids")
    for identity, answer in answers.items():
        if not isinstance(answer, str):
            raise line.wrong(f"answer.{identity}", answer, "a string")
    wanted = "a list of [title, sentence number]"
    return Predictions(
        answers, {identity: read_facts(given, line, f"sp.{identity}", wanted) for identity, given in facts.items()}
    )


def score_predictions(predictions: Predictions, questions: Sequence[Question]) -> list[dict[str, float]]:
    """Scores by question, in their order. A question without a prediction counts as wrong, as in the official script.

    Raises DataUnusable for a prediction whose question is not there.
    """
    known = {question.id for question in questions}
    for key, given in (("answer", predictions.answers), ("sp", predictions.facts)):
        unknown = [identity for identity in given if identity not in known]
        if unknown:
            raise DataUnusable(
                f"{key!r} has predictions for {len(unknown)} ids that no question has, the first {unknown[0]!r}."
                " Give the file that the predictions were made for"
            )
    return [_scored(predictions, question) for question in questions]


def missing(predictions: Predictions, questions: Sequence[Question]) -> int:
    """How many questions have no answer or no supporting facts in the predictions."""
    return sum(q.id not in predictions.answers or q.id not in predictions.facts for q in questions)


def _scored(predictions: Predictions, question: Question) -> dict[str, float]:
    answer, facts = predictions.answers.get(question.id), predictions.facts.get(question.id)
    found = scores(answer or "", facts or (), question.answers, question.facts)
    absent = [*(["answer"] if answer is None else []), *(["sp"] if facts is None else [])]
    return {name: 0.0 if absent and _rests_on(name, absent) else value for name, value in found.items()}


def _rests_on(name: str, absent: Sequence[str]) -> bool:
    if name.startswith("joint_"):
        return True
    return ("sp" if name.startswith("sp_") else "answer") in absent
