"""Predictions: the official file, written and read, and what is said of a wrong one."""

import json
from pathlib import Path
from typing import Any

import pytest
from remask.evals.dataset import read_questions
from remask.evals.errors import DataUnusable
from remask.evals.predictions import missing, read_predictions, score_predictions

from .official_script import evaluate
from .sheets import ROWS, official

SAID: dict[str, Any] = {
    "answer": {"q1": "Holt", "q2": "Yes.", "q3": ""},
    "sp": {"q1": [["Mira Holt", 1]], "q2": [["Blau", 0], ["Iller", 0]], "q3": []},
}


def written(folder: Path, prediction: object) -> Path:
    path = folder / "predictions.json"
    path.write_text(json.dumps(prediction), encoding="utf-8")
    return path


def scored(folder: Path, prediction: object) -> dict[str, float]:
    rows = score_predictions(read_predictions(written(folder, prediction)), read_questions(official(folder)))
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def test_the_means_are_those_of_the_official_rules(tmp_path: Path) -> None:
    found = scored(tmp_path, SAID)
    assert found == pytest.approx(evaluate(SAID, list(ROWS)))
    # q1: "holt" of "mira holt" has precision 1, recall 1/2; one of two facts: 1 and 1/2; jointly 1 and 1/4.
    assert found["em"] == pytest.approx(1 / 3)
    assert found["f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found["joint_f1"] == pytest.approx((2 * 0.25 / 1.25 + 1 + 0) / 3)


@pytest.mark.parametrize("part", ["answer", "sp"])
def test_a_question_without_a_prediction_counts_as_wrong(tmp_path: Path, part: str) -> None:
    said = json.loads(json.dumps(SAID))
    del said[part]["q2"]
    assert scored(tmp_path, said) == pytest.approx(evaluate(said, list(ROWS)))
    assert missing(read_predictions(written(tmp_path, said)), read_questions(official(tmp_path))) == 1


@pytest.mark.parametrize("part", ["answer", "sp"])
def test_a_prediction_for_an_unknown_id_is_refused(tmp_path: Path, part: str) -> None:
    said = json.loads(json.dumps(SAID))
    said[part]["q9"] = said[part]["q1"]
    with pytest.raises(DataUnusable, match=f"'{part}' has predictions for 1 ids that no question has, the first 'q9'"):
        scored(tmp_path, said)


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        ([], "holds list, where one JSON object is needed"),
        ({"sp": {}}, "no key 'answer'"),
        ({"answer": {}}, "no key 'sp'"),
        ({"answer": [], "sp": {}}, "'answer' is []"),
        ({"answer": {"q1": None}, "sp": {}}, "'answer.q1' is None"),
        ({"answer": {}, "sp": {"q1": [["Blau", 0.5]]}}, "'sp.q1' is ['Blau', 0.5]"),
        ({"answer": {}, "sp": {"q1": "Blau"}}, "'sp.q1' is 'Blau'"),
    ],
)
def test_a_wrong_file_is_refused_and_the_key_named(tmp_path: Path, prediction: object, said: str) -> None:
    with pytest.raises(DataUnusable) as error:
        read_predictions(written(tmp_path, prediction))
    assert said in str(error.value)


def test_two_predictions_for_one_question_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text('{"answer": {"q1": "a", "q1": "b"}, "sp": {}}', encoding="utf-8")
    with pytest.raises(DataUnusable, match="the key 'q1' stands twice in one object"):
        read_predictions(path)
