"""Questions small enough to score in the head, as records and as files."""

import json
from pathlib import Path
from typing import Any

from remask.evals.dataset import question_of
from remask.evals.question import Question
from remask.evals.records import Row

HOLT: dict[str, Any] = {
    "_id": "q1",
    "question": "Who restored the fresco of Saint Anne?",
    "answer": "Mira Holt",
    "supporting_facts": [["Mira Holt", 1], ["Saint Anne", 1]],
    "context": [
        ["Blau", ["The Blau is a river.", " It is 22 km long."]],
        ["Mira Holt", ["Mira Holt was a painter.", " In 1952 Mira Holt restored the fresco of Saint Anne."]],
        ["Saint Anne", ["Saint Anne is a chapel.", " Its fresco shows a whale."]],
    ],
    "type": "bridge",
    "level": "easy",
}
RIVERS: dict[str, Any] = {
    "_id": "q2",
    "question": "Are the Blau and the Iller both rivers?",
    "answer": "yes",
    "supporting_facts": [["Blau", 0], ["Iller", 0]],
    "context": [
        ["Blau", ["The Blau is a river.", " It is 22 km long."]],
        ["Iller", ["The Iller is a river in Bavaria."]],
    ],
    "type": "comparison",
    "level": "easy",
}
WHALE: dict[str, Any] = {
    "_id": "q3",
    "question": "What does the fresco of Saint Anne show?",
    "answer": "a whale",
    "supporting_facts": [["Saint Anne", 1]],
    "context": HOLT["context"],
    "type": "bridge",
    "level": "easy",
}
ROWS = (HOLT, RIVERS, WHALE)


def question(record: dict[str, Any]) -> Question:
    return question_of(Row("here, row 1", record))


def official(folder: Path, *records: dict[str, Any]) -> Path:
    """A file in the official layout."""
    path = folder / "dev.json"
    path.write_text(json.dumps(list(records or ROWS)), encoding="utf-8")
    return path
