"""`remask eval noise`: which paragraphs a question gets, in which order, and what is told."""

import json
from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.evals.errors import DataUnusable
from remask.evals.folder import read_rows
from remask.evals.noise import KINDS, Condition, Place, misled, mixed
from remask.evals.question import Paragraph

from .sheets import HOLT, RIVERS, ROWS, official, question

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
    backends = ("--backend", "gold", "--baseline", "floor", "--kind", "distractors")
    arguments = ["--data", str(official(tmp_path, *ROWS)), *backends, *counts]
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
    assert "| gold | distractors | 4 | last | 3 | 100.0" in capsys.readouterr().out
    assert (out / "noise.png").exists()
    assert "floor, 4-last" in (out / "report.html").read_text()


def test_every_second_noise_document_is_a_near_duplicate_of_a_right_one() -> None:
    made = mixed(question(HOLT), POOL, Condition(8, "first", "duplicates"), seed=0)
    found = [paragraph.title for paragraph in made.paragraphs]
    assert found[:2] == ["Mira Holt", "Saint Anne"]
    assert (found.count("Mira Holt (copy)"), found.count("Saint Anne (copy)"), len(found)) == (2, 1, 8)


def test_one_copy_contradicts_and_the_rest_are_distractors() -> None:
    made = mixed(question(HOLT), POOL, Condition(8, "last", "contradictions"), seed=0, false="Bo Lind")
    copies = [paragraph for paragraph in made.paragraphs if paragraph.title.endswith("(copy)")]
    assert len(made.paragraphs) == 8
    assert [copy.sentences[1] for copy in copies] == [" In 1952 Bo Lind restored the fresco of Saint Anne."]
    assert [paragraph.title for paragraph in made.paragraphs[-2:]] == ["Mira Holt", "Saint Anne"]
    without = mixed(question(HOLT), POOL, Condition(8, "last", "contradictions"), seed=0)
    assert not [paragraph for paragraph in without.paragraphs if paragraph.title.endswith("(copy)")]


def test_there_is_no_room_for_noise_among_as_many_as_are_right() -> None:
    for kind in KINDS:
        made = mixed(question(HOLT), POOL, Condition(2, "last", kind), seed=0, false="Bo Lind")
        assert [paragraph.title for paragraph in made.paragraphs] == ["Mira Holt", "Saint Anne"]


def test_whoever_says_what_the_copy_says_was_misled(tmp_path: Path) -> None:
    # Another painter, so that there is a name to swap in. The floor quotes whole sentences, and so is never misled.
    other = HOLT | {"_id": "q9", "question": "Who restored it?", "answer": "Bo Lind", "supporting_facts": [["Lind", 0]]}
    other |= {"context": [["Lind", ["Bo Lind restored it."]], ["Blau", ["The Blau is a river."]]]}
    out = tmp_path / "out"
    counts = ("--documents", "4", "--place", "last", "--kind", "contradictions")
    arguments = ["--data", str(official(tmp_path, HOLT, other, RIVERS)), "--backend", "floor", *counts]
    assert main(["eval", "noise", "--out", str(out), *arguments]) == 0
    (measured,) = json.loads((out / "report.json").read_text())["measured"]
    assert measured["misled"] == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 2}
    rows = list(read_rows(out / "4-last-contradictions"))
    said = [row.model_copy(update={"answer": "Bo Lind"}) for row in rows if row.id == "q1"]
    assert misled(said, {"q1": "Bo Lind"}) == [1.0]
    assert misled(rows, {"q1": "", "q2": "", "q9": ""}) == []
