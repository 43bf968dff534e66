"""A report made on a Ray cluster has the numbers of one made here."""

import json
from functools import partial
from pathlib import Path

import pytest
from remask.evals import hotpotqa as task
from remask.evals.cluster import spreading

pytest.importorskip("ray")

QUESTIONS = [
    {
        "_id": f"q{number}",
        "question": f"Who built the tower of city {number}?",
        "answer": f"Builder {number}",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [[f"City {number}", 0]],
        "context": [
            [f"City {number}", [f"The tower of city {number} was built by Builder {number}. ", "It is tall."]],
            ["River", ["A river is water."]],
        ],
    }
    for number in range(6)
]


def test_the_report_has_the_same_numbers_as_one_process(tmp_path: Path):
    data = tmp_path / "questions.json"
    data.write_text(json.dumps(QUESTIONS))
    planned = partial(task.plan, "hotpotqa", data, "distractor", ["floor", "gold"], out=tmp_path / "here")
    task.run(planned(), tmp_path / "here", seed=0)
    with spreading("local:2", planned) as spread:
        task.run(planned(), tmp_path / "there", seed=0, spread=spread)
    for name in ("metrics.json", "predictions.json", "predictions.gold.json"):
        one, other = (json.loads((tmp_path / place / name).read_text()) for place in ("here", "there"))
        assert untimed(one) == untimed(other)
    rows = [untimed(json.loads(line)) for line in (tmp_path / "there" / "rows.jsonl").read_text().splitlines()]
    assert rows == [untimed(json.loads(line)) for line in (tmp_path / "here" / "rows.jsonl").read_text().splitlines()]


def untimed(value: object) -> object:
    if isinstance(value, dict):
        return {name: untimed(inner) for name, inner in value.items() if "seconds" not in name and "ms" not in name}
    return [untimed(inner) for inner in value] if isinstance(value, list) else value


def test_without_an_address_nothing_is_spread(tmp_path: Path):
    with spreading(None, partial(task.plan, "hotpotqa")) as spread:
        assert spread is None
