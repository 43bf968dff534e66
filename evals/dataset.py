"""Files of questions as records: HotpotQA's official JSON, its Hugging Face layout, and JSON lines of our own.

official      `_id, question, answer, supporting_facts [[title, n]..], context [[title, [sentence..]]..], type, level`
Hugging Face  `id, question, answer, supporting_facts {title [..], sent_id [..]}, context {title [..], sentences [..]}`
ours          like the official one with `id` and `answers [..]`, which is empty where the texts carry no answer

Sources: https://hotpotqa.github.io and https://huggingface.co/datasets/hotpotqa/hotpot_qa.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import DataUnusable
from .question import Fact, Paragraph, Question
from .records import Row, read_rows


def read_questions(path: Path) -> list[Question]:
    """In the file's order, at least one. Raises DataUnusable, which names the row and the key."""
    questions: list[Question] = []
    rows: dict[str, str] = {}
    for row in read_rows(path):
        question = question_of(row)
        if question.id in rows:
            raise DataUnusable(f"{row.where}: the id {question.id!r} was given before, in {rows[question.id]}")
        rows[question.id] = row.where
        questions.append(question)
    if not questions:
        raise DataUnusable(f"{path}: holds no question")
    return questions


def question_of(row: Row) -> Question:
    return Question(
        id=_id(row),
        text=row.text("question"),
        answers=_answers(row),
        facts=_facts(row),
        paragraphs=tuple(_paragraphs(row)),
        type=str(row.fields.get("type") or ""),
        level=str(row.fields.get("level") or ""),
    )


def _id(row: Row) -> str:
    value = row.get("_id", "id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise row.wrong("id", value, "a string or a whole number")
    return str(value)


def _answers(row: Row) -> tuple[str, ...]:
    if "answers" not in row.fields:
        return (row.text("answer", "answers"),)
    answers = row.get("answers")
    if not isinstance(answers, list) or not all(isinstance(one, str) and one.strip() for one in answers):
        raise row.wrong("answers", answers, "a list of strings that are not empty")
    return tuple(answers)


def _facts(row: Row) -> tuple[Fact, ...] | None:
    facts = row.get("supporting_facts")
    if facts is None:
        return None
    wanted = "a list of [title, sentence number]"
    pairs = _columns(row, "supporting_facts", facts, "title", "sent_id") if isinstance(facts, dict) else facts
    return read_facts(pairs, row, "supporting_facts", wanted)


def read_facts(pairs: object, row: Row, key: str, wanted: str) -> tuple[Fact, ...]:
    """Pairs of a title and a number, each once."""
    found: dict[Fact, None] = {}
    for pair in _listed(pairs, row, key, wanted):
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) and _whole(pair[1])):
            raise row.wrong(key, pair, wanted)
        found[pair[0], pair[1]] = None
    return tuple(found)


def _paragraphs(row: Row) -> Iterator[Paragraph]:
    context = row.get("context")
    wanted = "a list of [title, [sentence, ..]]"
    pairs = _columns(row, "context", context, "title", "sentences") if isinstance(context, dict) else context
    for pair in _listed(pairs, row, "context", wanted):
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise row.wrong("context", pair, wanted)
        sentences = _listed(pair[1], row, "context", wanted)
        if not all(isinstance(sentence, str) for sentence in sentences):
            raise row.wrong("context", pair, wanted)
        yield Paragraph(pair[0], tuple(sentences))


def _columns(row: Row, key: str, table: dict[str, Any], *names: str) -> Iterable[tuple[Any, ...]]:
    """A table of columns, as the Hugging Face library stores a list of records, turned into rows."""
    columns = [table.get(name) for name in names]
    lists = [column for column in columns if isinstance(column, list)]
    if len(lists) < len(names) or len({len(column) for column in lists}) > 1:
        raise row.wrong(key, table, f"an object with lists {', '.join(names)} of one length")
    return list(zip(*lists, strict=True))


def _listed(value: object, row: Row, key: str, wanted: str) -> list[Any]:
    if not isinstance(value, list):
        raise row.wrong(key, value, wanted)
    return value


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
