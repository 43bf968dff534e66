"""Task files: what may stand in one, and what is said of one that can't be used."""

from pathlib import Path

import pytest
from remask.evals.errors import DataUnusable
from remask.evals.task import Case, Task, read_task

DESK = """
[task]
name = "returns desk"
[bars]
resolved = 0.5
[[question]]
id = "window"
text = "How long may I return a lamp?"
facts = ["30 days", ["unused", "not used"]]
never = ["60 days"]
cite = ["returns.md"]
tags = ["returns"]
[[question]]
id = "pay"
text = "What does the director earn?"
expect = ["abstain", "hand over"]
"""


def read(folder: Path, text: str) -> Task:
    path = folder / "desk.toml"
    path.write_text(text, encoding="utf-8")
    return read_task(path)


def test_a_task_file_is_read_with_single_texts_as_lists_of_one(tmp_path: Path) -> None:
    task = read(tmp_path, DESK)
    assert (task.name, task.bars) == ("returns desk", {"resolved": 0.5})
    assert task.question == (
        Case(
            id="window",
            text="How long may I return a lamp?",
            facts=(("30 days",), ("unused", "not used")),
            never=("60 days",),
            cite=(("returns.md",),),
            tags=("returns",),
        ),
        Case(id="pay", text="What does the director earn?", expect=("abstain", "hand over")),
    )
    assert [case.answerable for case in task.question] == [True, False]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[task]", "[task", "not valid TOML"),
        ('name = "returns desk"', "", "task, name: Field required"),
        ('id = "pay"', 'id = "window"', "the id 'window' is given twice"),
        ('text = "What does', 'txt = "What does', "question 'pay', txt: Extra inputs"),
        ('id = "pay"', "", "question 2, id: Field required"),
        ('"hand over"]', '"shrug"]', "question 'pay', expect, 1: Input should be 'answer', 'abstain' or 'hand over'"),
        ("never =", "facts_ =", "question 'window', facts_: Extra"),
        (
            'facts = ["30 days", ["unused", "not used"]]\nnever = ["60 days"]\ncite = ["returns.md"]',
            "",
            "needs 'facts'",
        ),
        ('expect = ["abstain", "hand over"]', 'expect = "abstain"\nfacts = ["x"]', "'facts' and 'cite' are of answers"),
        ('"30 days"', '" "', "question 'window', facts, 0, 0: a text that says nothing"),
        ("resolved = 0.5", "solved = 0.5", "'bars' has 'solved'; there are resolved"),
        ("resolved = 0.5", "resolved = 50", "bars, resolved: Input should be less than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_with_the_question_and_the_key(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert before in DESK
    with pytest.raises(DataUnusable, match=r"desk\.toml: ") as error:
        read(tmp_path, DESK.replace(before, after))
    assert said in str(error.value)


def test_a_task_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataUnusable, match="question: "):
        read(tmp_path, '[task]\nname = "empty"\n')
