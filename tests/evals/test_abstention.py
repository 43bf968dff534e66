"""`remask eval abstention`: what is fitted, what is refused, and what is told, worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from remask.agent.calibration import read_calibration
from remask.agent.cli import main
from remask.evals.asking import Row
from remask.evals.errors import DataUnusable
from remask.evals.fit import Rule, best_rule, fitted, monotone, pooled, refusal


def row(number: int, *, confidence: float, f1: float, answers: bool = True, drafted: bool = True) -> Row:
    return Row(
        backend="b",
        id=str(number),
        question=f"{number}?",
        answers=("x",) if answers else (),
        gold=None,
        answer="x" if drafted else "",
        facts=(),
        confidence=confidence if drafted else 0.0,
        answerable=confidence,
        abstained=not drafted,
        scores={"em": float(f1 == 1), "f1": f1},
        seconds={"total": 1.0},
    )


ROWS = [
    row(1, confidence=0.9, f1=1.0),
    row(2, confidence=0.7, f1=0.5),
    row(3, confidence=0.3, f1=0.0),
    row(4, confidence=0.8, f1=0.0, answers=False),
    row(5, confidence=0.2, f1=0.0, answers=False),
    row(6, confidence=0.0, f1=1.0, answers=False, drafted=False),
]


@pytest.mark.parametrize(
    ("least", "wanted"),
    [
        (0.0, (0.0, 1 / 3, 0.5, 5 / 12)),
        (0.25, (0.0, 2 / 3, 0.5, 7 / 12)),
        (0.85, (2 / 3, 1.0, 1 / 3, 2 / 3)),
        (0.95, (1.0, 1.0, 0.0, 0.5)),
    ],
)
def test_what_thresholds_refuse(least: float, wanted: tuple[float, ...]) -> None:
    assert refusal(ROWS, Rule(least, 0.0)) == pytest.approx(wanted)
    assert refusal(ROWS, Rule(0.0, least)) == pytest.approx(wanted)


def test_the_best_thresholds_are_found_and_of_equals_the_lowest() -> None:
    # Refusing all below 0.9 is best; of the two thresholds, one suffices.
    rule = best_rule(ROWS)
    assert refusal(ROWS, rule).balanced == pytest.approx(2 / 3)
    assert min(rule[:2]) == 0.0
    assert 0.8 < max(rule[:2]) <= 0.9


def test_an_agent_that_knows_names_refuses_those_that_it_did_not_read() -> None:
    strange = ROWS[0].model_copy(update={"unheard": ("Orrin",)})
    assert Rule(known_names=True).refuses(strange)
    assert not Rule().refuses(strange)
    assert not Rule(known_names=True).refuses(ROWS[0])


@pytest.mark.parametrize(
    ("values", "weights", "wanted"),
    [
        ([1, 2, 3], [1, 1, 1], [1, 2, 3]),
        ([3, 2, 1], [1, 1, 1], [2, 2, 2]),
        ([1, 3, 0, 4], [1, 1, 2, 1], [1, 1, 1, 4]),
        ([2, 1, 3, 2], [1, 3, 1, 1], [1.25, 1.25, 2.5, 2.5]),
    ],
)
def test_violators_are_pooled(values: list[float], weights: list[float], wanted: list[float]) -> None:
    assert pooled(values, weights) == pytest.approx(wanted)


def test_the_map_rises_over_bins_of_at_least_twenty() -> None:
    confidence = [n / 100 for n in range(100)]
    points = monotone(confidence, [float(n >= 50) for n in range(100)])
    assert points == [(0.095, 0.0), (0.295, 0.0), (0.495, 0.5), (0.695, 1.0), (0.895, 1.0)]
    assert len(monotone(confidence[:39], [0.0] * 39)) == 1


def test_too_few_answers_are_not_fitted() -> None:
    with pytest.raises(DataUnusable, match="answered 5 of its questions; at least 40"):
        fitted(ROWS, source="few.json")


def record(number: int, kind: str) -> dict[str, Any]:
    """The floor answers with the fact's sentence; of `kind` "none" there is nothing to answer with, of "trap" there is."""
    fact = f"The keeper of lamp {number} is called Ada{number}."
    return {
        "id": f"{kind}{number}",
        "question": f"Who is the keeper of lamp {number}?" if kind != "none" else "Quo vadis?",
        "answers": [fact] if kind == "known" else [],
        "supporting_facts": None,
        "context": [["Lamps", [fact if kind != "trap" else f"The keeper of lamp {number} left."]]],
    }


def written(path: Path, *numbers: int) -> Path:
    rows = [record(number, kind) for number in numbers for kind in ("known", "none", "trap")]
    for one in rows:
        if one["question"] == "Quo vadis?":
            one["question"] = f"Quo vadis, {one['id']}?"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def test_the_command_fits_on_one_file_and_measures_on_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, train = written(tmp_path / "a.jsonl", *range(10)), written(tmp_path / "b.jsonl", *range(100, 130))
    out = tmp_path / "out"
    arguments = ["--data", str(data), "--calibrate", str(train), "--backend", "floor", "--out", str(out)]
    assert main(["eval", "abstention", *arguments]) == 0
    report = json.loads((out / "report.json").read_text())
    (found,) = report["certainties"]
    assert (report["answerable"], report["unanswerable"], found["drafts"]) == (10, 20, 20)
    # The floor is as sure of a trap as of an answer, and silent where no word is shared: each of 10 beats 10 and ties 10.
    assert found["auroc"]["answerable"]["value"] == 0.75
    own, default, fit = found["refusals"]
    assert (own["answerable"]["value"], own["unanswerable"]["value"]) == (0.0, 0.5)
    assert default == own | {key: default[key] for key in ("rule", "min_confidence", "min_answerable", "known_names")}
    assert fit["rule"] == "calibrated"
    calibration = read_calibration(out / "calibration.json")
    assert calibration.fitted_on["data"] == "b.jsonl"
    assert calibration.fitted_on["questions"] == 90
    # Half of what it answers is right, and it is surer of that than it should be.
    assert found["ece"]["value"] > found["ece_calibrated"]["value"]
    assert str(out / "calibration.json") in capsys.readouterr().out
    assert (out / "risk.png").exists()


@pytest.mark.parametrize(
    ("fit", "said"),
    [("a.jsonl", "'known1' is among the questions that are measured"), ("c.jsonl", "all have an answer")],
)
def test_what_cannot_be_fitted_on_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fit: str, said: str
) -> None:
    data = written(tmp_path / "a.jsonl", 1, 2)
    (tmp_path / "c.jsonl").write_text(json.dumps(record(9, "known")), encoding="utf-8")
    out = str(tmp_path / "out")
    arguments = ["--data", str(data), "--calibrate", str(tmp_path / fit), "--backend", "floor", "--out", out]
    assert main(["eval", "abstention", *arguments]) == 1
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_file_of_one_kind_tells_nothing_about_abstaining(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.jsonl").write_text(json.dumps(record(9, "known")), encoding="utf-8")
    out = str(tmp_path / "out")
    arguments = ["--data", str(tmp_path / "c.jsonl"), "--backend", "floor", "--out", out]
    assert main(["eval", "abstention", *arguments]) == 1
    assert "all have an answer" in capsys.readouterr().err
