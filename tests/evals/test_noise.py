"""`remask eval noise`: which paragraphs a question gets, in which order, and what is told."""

import json
from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.evals.errors import DataUnusable
from remask.evals.noise import Condition, Place, mixed
from remask.evals.question import Paragraph

from .sheets import HOLT, ROWS, official, question

POOL = [Paragraph(f"Text {n}", (f"Nothing on number {n}.",)) for n in range(60)]


def titles(documents: int, place: Place, *, seed: int = 0) -> list[str]:
    made = mixed(question(HOLT), POOL, Condition(documents, place), seed=seed)
    return [paragraph.title for paragraph in made.paragraphs]


@pytest.mark.parametrize(("place", "at"), [("first", 0), ("middle", 5), ("last", 10)])
def test_the_right_paragraphs_stand_together_where_they_should(place: Place, at: int) -> None:
    found = titles(12, place)
    assert len(found) == len(set(found)) == 12
    assert found[at : at + 2] == ["Mira Holt", "Saint Anne"]


def test_a_question_s_own_distractors_come_first_and_the_right_ones_are_never_cut() -> None:
    assert sorted(titles(3, "first")) == ["Blau", "Mira Holt", "Saint Anne"]
    assert titles(1, "last") == ["Mira Holt", "Saint Anne"]


def test_the_same_seed_gives_the_same_paragraphs_in_the_same_order() -> None:
    assert titles(20, "middle") == titles(20, "middle") != titles(20, "middle", seed=1)


def test_more_documents_add_to_those_that_were_there() -> None:
    assert set(titles(8, "first")) < set(titles(20, "last"))


def test_a_paragraph_with_the_answer_is_no_distractor() -> None:
    pool = [Paragraph("Twin", ("MIRA HOLT restored it too.",)), *POOL[:2]]
    made = mixed(question(HOLT), pool, Condition(50, "first"), seed=0)
    assert "Twin" not in {paragraph.title for paragraph in made.paragraphs}
    assert len(made.paragraphs) == 5


def test_a_question_without_marked_paragraphs_is_named() -> None:
    with pytest.raises(DataUnusable, match="question 'q1' has no paragraph"):
        mixed(question(HOLT | {"supporting_facts": [["Elsewhere", 0]]}), POOL, Condition(4, "first"), seed=0)


def test_every_condition_is_measured_and_compared_with_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    counts = ("--documents", "4", "--documents", "2", "--place", "last")
    arguments = ["--data", str(official(tmp_path, *ROWS)), "--backend", "gold", "--baseline", "floor", *counts]
    assert main(["eval", "noise", "--out", str(out), *arguments]) == 0
    measured = json.loads((out / "report.json").read_text())["measured"]
    assert [(m["documents"], m["place"], m["scores"]["backend"]) for m in measured] == [
        (2, "last", "gold"),
        (2, "last", "floor"),
        (4, "last", "gold"),
        (4, "last", "floor"),
    ]
    assert measured[0]["change"] == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 3}
    assert measured[2]["scores"]["metrics"]["f1"]["value"] == 1.0
    assert "| gold | 4 | last | 3 | 100.0" in capsys.readouterr().out
