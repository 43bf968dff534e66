"""`remask eval latency`: who is asked when, what is kept, and pass times by hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from remask.agent.answer import RefinePass
from remask.agent.cli import main
from remask.dllm.draft import Passes, Prompt
from remask.evals.asking import Row
from remask.evals.floor import SentenceFloor
from remask.evals.hotpotqa import plan
from remask.evals.latency import pass_times, run

from .sheets import official


def row(*seconds: float) -> Row:
    """A row whose first pass is the prompt's."""
    passes = tuple(
        RefinePass(run=1, stage="draft", index=i, canvas="", committed=0, masked=0, seconds=s)
        for i, s in enumerate(seconds)
    )
    return Row(
        backend="b",
        id=str(seconds),
        question="",
        answers=(),
        gold=None,
        answer="",
        facts=(),
        confidence=0,
        abstained=False,
        scores={},
        passes=passes,
        seconds={},
    )


def timed(folder: Path, data: Path, *arguments: str) -> None:
    backends = ("--backend", "gold", "--baseline", "floor")
    assert main(["eval", "latency", "--data", str(data), "--out", str(folder), *backends, *arguments]) == 0


def test_each_question_goes_through_all_backends_and_another_begins_each_time(tmp_path: Path) -> None:
    timed(tmp_path / "out", official(tmp_path), "--repeats", "2", "--warm", "1")
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert [(r["id"], r["backend"]) for r in rows[:4]] == [
        ("q1", "gold"),
        ("q1", "floor"),
        ("q2", "floor"),
        ("q2", "gold"),
    ]
    assert [(r["id"], r["backend"], r["repeat"]) for r in rows[6:8]] == [("q1", "floor", 1), ("q1", "gold", 1)]


def test_the_report_has_quantiles_stages_and_a_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed(tmp_path / "out", official(tmp_path))
    made = json.loads((tmp_path / "out" / "report.json").read_text())["report"]
    assert [t["backend"] for t in made["times"]] == ["gold", "floor"]
    for t in made["times"]:
        assert t["p50"]["value"] <= t["p95"]["value"] <= t["p99"]["value"]
        assert {"retrieve", "draft", "refine", "cite"} <= set(t["stages"])
    (speed,) = made["speeds"]
    assert speed["ratio"]["value"] == pytest.approx(
        made["times"][1]["p50"]["value"] / made["times"][0]["p50"]["value"], rel=0.01
    )
    assert "gold against floor" in capsys.readouterr().out


def test_the_prompt_s_pass_is_compared_with_the_mean_pass_over_the_canvas() -> None:
    found = pass_times([row(0.3, 0.01, 0.03), row(0.3, 0.02), row(0.3, 0.02)])
    assert found is not None
    assert (found.prompt.value, found.canvas.value, found.ratio.value) == (0.3, 0.02, 15.0)


def test_only_the_first_run_counts_since_later_ones_may_find_the_prompt_read() -> None:
    once = row(0.3, 0.02)
    refined = tuple(made.model_copy(update={"run": 2, "stage": "refine", "seconds": 0.001}) for made in once.passes)
    assert pass_times([once.model_copy(update={"passes": once.passes + refined})]) == pass_times([once])


class Noting(SentenceFloor):
    """Notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        self.asked.append(prompt.question)
        return super().draft(prompt)


def test_no_question_is_measured_that_the_warm_up_asked_word_for_word(tmp_path: Path) -> None:
    made = plan("latency", official(tmp_path), "distractor", ["floor"], out=tmp_path)
    noting = Noting()
    run(
        made._replace(backends=[replace(made.backends[0], generator=noting)]),
        tmp_path / "out",
        seed=0,
        warm=2,
        repeats=1,
    )
    assert len(noting.asked) == len(set(noting.asked)) == 5
    assert noting.asked[2] == made.questions[0].text


def test_a_backend_that_times_no_prompt_has_no_pass_times() -> None:
    assert pass_times([row(0.0, 0.1)]) is None
