"""Files of questions: three layouts, one record; and what is said of a file that can't be used."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from remask.evals.dataset import read_questions
from remask.evals.errors import DataUnusable

from .sheets import HOLT, ROWS, official


def hugging_face(record: dict[str, Any]) -> dict[str, Any]:
    facts, context = record["supporting_facts"], record["context"]
    return {
        **{name: record[name] for name in ("question", "answer", "type", "level")},
        "id": record["_id"],
        "supporting_facts": {"title": [t for t, _ in facts], "sent_id": [n for _, n in facts]},
        "context": {"title": [t for t, _ in context], "sentences": [s for _, s in context]},
    }


def ours(record: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in record.items() if name not in ("_id", "answer")}
    return {"id": record["_id"], "answers": [record["answer"]], **rest}


def lines(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_all_three_layouts_give_the_same_questions(tmp_path: Path) -> None:
    wanted = read_questions(official(tmp_path))
    assert [q.id for q in wanted] == ["q1", "q2", "q3"]
    assert wanted[0].paragraphs[1].sentences[1] == " In 1952 Mira Holt restored the fresco of Saint Anne."
    assert wanted[0].facts == (("Mira Holt", 1), ("Saint Anne", 1))
    assert read_questions(lines(tmp_path / "hf.jsonl", *map(hugging_face, ROWS))) == wanted
    assert read_questions(lines(tmp_path / "ours.jsonl.gz", *map(ours, ROWS))) == wanted


def test_a_question_may_have_no_answer_and_no_marked_facts(tmp_path: Path) -> None:
    (read,) = read_questions(lines(tmp_path / "a.jsonl", ours(HOLT) | {"answers": [], "supporting_facts": None}))
    assert (read.answers, read.facts) == ((), None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": ""}, "row 2: 'question' is ''"),
        ({"question": 5}, "row 2: 'question' is 5"),
        ({"answer": " "}, "row 2: 'answer' is ' '"),
        ({"_id": None}, "row 2: 'id' is None"),
        ({"_id": "q1"}, "row 2: the id 'q1' was given before, in"),
        ({"supporting_facts": [["Blau", "0"]]}, "row 2: 'supporting_facts' is ['Blau', '0']"),
        ({"supporting_facts": {"title": ["Blau"], "sent_id": []}}, "row 2: 'supporting_facts' is"),
        ({"context": "text"}, "row 2: 'context' is 'text'"),
        ({"context": [["Blau", "one text"]]}, "row 2: 'context' is 'one text'"),
        ({"context": [["Blau", [1]]]}, "row 2: 'context' is ['Blau', [1]]"),
    ],
)
def test_a_wrong_value_is_named_with_its_row_and_key(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(DataUnusable) as error:
        read_questions(official(tmp_path, HOLT, ROWS[1] | change))
    assert said in str(error.value)


@pytest.mark.parametrize("key", ["question", "answer", "context", "supporting_facts"])
def test_a_missing_key_is_named_with_its_row(tmp_path: Path, key: str) -> None:
    row = {name: value for name, value in HOLT.items() if name != key}
    with pytest.raises(DataUnusable, match=f"row 1: no key '{key}'; its keys are '_id'"):
        read_questions(official(tmp_path, row))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no question"),
        (b"[]", "holds no question"),
        (b"[1]", "row 1: 1, where an object with named fields is needed"),
        (b"[{", "not valid JSON"),
        (b"question,answer\nWho?,Me\n", "row 1: not valid JSON"),
        (b"\xff\xfe\x00", "can't be read"),
    ],
)
def test_a_file_that_is_no_data_is_refused_with_the_reason(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(content)
    with pytest.raises(DataUnusable, match=said):
        read_questions(path)


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ours(HOLT)).encode())[:-9])
    with pytest.raises(DataUnusable, match="can't be read"):
        read_questions(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataUnusable, match=r"nowhere\.json"):
        read_questions(tmp_path / "nowhere.json")
