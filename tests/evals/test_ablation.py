"""`remask eval ablation`: what differs between variants, what is compared, and what is committed a pass."""

import json
from pathlib import Path

import pytest
from remask.agent.answer import RefinePass
from remask.agent.cli import main
from remask.agent.options import AgentOptions
from remask.dllm.draft import Draft, Generator, Prompt
from remask.dllm.mini.reader import EmbeddedReader, ReaderOptions
from remask.dllm.scripted import ScriptedGenerator
from remask.evals.ablation import ALL_SLOTS, Plan, pace_of, plan, run, variants
from remask.evals.asking import Row

from .sheets import HOLT, official

CHOSEN = variants(passes=4, thresholds=[0.9])


def test_variants_differ_in_what_they_are_named_for() -> None:
    told = {
        v.name: (v.reader.threshold, v.agent.run_passes, v.agent.candidates, v.agent.max_refinements) for v in CHOSEN
    }
    usual = ReaderOptions().threshold
    assert told == {
        "one token a pass": (usual, ALL_SLOTS, 1, 0),
        "one pass": (usual, 1, 1, 0),
        "several passes": (usual, 4, 1, 0),
        "threshold 0.9": (0.9, 4, 1, 0),
        "re-masking": (usual, 4, 1, 1),
        "candidates": (usual, 4, 3, 0),
        "both": (usual, 4, 3, 1),
    }
    own = AgentOptions().fitted(EmbeddedReader.budget)
    assert told["one pass"] == (usual, own.run_passes, own.candidates, own.max_refinements)


def told(prompt: Prompt) -> list[Draft]:
    """Unsure of a wrong answer; the second candidate is right and surer."""
    return [Draft("Blau", confidence=0.3, answerable=0.9), Draft("Mira Holt", confidence=0.8, answerable=0.9)]


def made(tmp_path: Path, calls: list[ReaderOptions]) -> Plan:
    def load(options: ReaderOptions) -> Generator:
        calls.append(options)
        return ScriptedGenerator(told, lambda prompt: Draft("Holt", confidence=0.5, answerable=0.9))

    return plan(official(tmp_path, HOLT), "distractor", CHOSEN, load)


def test_the_effect_of_each_part_is_told_against_the_variant_without_it(tmp_path: Path) -> None:
    calls: list[ReaderOptions] = []
    found = run(made(tmp_path, calls), tmp_path / "out", seed=0)
    assert len(calls) == len(CHOSEN)
    f1 = {scores.backend: scores.metrics["f1"].value for scores in found.report.scores}
    assert (f1["several passes"], f1["re-masking"], f1["candidates"]) == (0.0, pytest.approx(2 / 3, abs=1e-6), 1.0)
    pairs = {(pair.ours, pair.theirs): pair.metrics["f1"].value for pair in found.pairs}
    assert pairs["candidates", "several passes"] == 1.0
    assert pairs["re-masking", "several passes"] == pytest.approx(2 / 3, abs=1e-6)
    assert pairs["threshold 0.9", "several passes"] == 0.0
    assert json.loads((tmp_path / "out" / "report.json").read_text())["paces"][0]["variant"] == "one token a pass"
    assert "| candidates − several passes | +100.0" in (tmp_path / "out" / "report.md").read_text()


def a_pass(run: int, index: int, committed: int) -> RefinePass:
    return RefinePass(run=run, stage="draft", index=index, canvas="", committed=committed, masked=0)


def test_the_pace_is_of_the_first_run_without_the_picture_of_the_empty_canvas() -> None:
    row = Row(
        backend="b",
        id="1",
        question="?",
        answers=("x",),
        gold=None,
        answer="x",
        facts=(),
        confidence=0.5,
        abstained=False,
        tokens=3,
        scores={"f1": 1.0},
        passes=(a_pass(1, 0, 0), a_pass(1, 1, 20), a_pass(1, 2, 5), a_pass(2, 1, 1)),
        seconds={"total": 1.0},
    )
    pace = pace_of([row])
    assert pace is not None
    assert (pace.passes.value, pace.slots.value, pace.tokens.value) == (2.0, 12.5, 1.5)
    assert pace_of([row.model_copy(update={"passes": ()})]) is None


def test_only_the_embedded_reader_can_be_taken_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--data", str(official(tmp_path)), "--backend", "floor", "--out", str(tmp_path / "out")]
    assert main(["eval", "ablation", *arguments]) == 2
    assert "'floor' can't be taken apart" in capsys.readouterr().err
