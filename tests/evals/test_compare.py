"""`remask eval compare`: what changed between two runs."""

from pathlib import Path

import pytest
from remask.agent.cli import main

from .sheets import HOLT, ROWS, WHALE, official


def ran(folder: Path, data: Path, *backends: str) -> Path:
    baselines = [word for name in backends[1:] for word in ("--baseline", name)]
    assert (
        main(["eval", "hotpotqa", "--data", str(data), "--out", str(folder), "--backend", backends[0], *baselines]) == 0
    )
    return folder


def test_questions_that_got_better_are_listed_with_both_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = official(tmp_path)
    one, other = ran(tmp_path / "a", data, "floor"), ran(tmp_path / "b", data, "gold")
    capsys.readouterr()
    assert main(["eval", "compare", str(one), str(other)]) == 0
    text = capsys.readouterr().out
    assert "3 questions in both, 0 in one only; 3 better, 0 worse" in text
    assert "| EM | 0.0 [0.0, 0.0] | 100.0 [100.0, 100.0] | +100.0 [+100.0, +100.0] |" in text
    assert "→ 100 |" in text
    assert "## Worse" not in text


def test_a_backend_may_be_named_for_each_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ran(tmp_path / "a", official(tmp_path), "floor", "gold")
    capsys.readouterr()
    assert main(["eval", "compare", str(one), str(one), "--backend", "gold", "--backend", "floor"]) == 0
    assert "0 better, 3 worse" in capsys.readouterr().out


def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d").mkdir()
    one = ran(tmp_path / "a", official(tmp_path, HOLT), "gold")
    other = ran(tmp_path / "b", official(tmp_path, WHALE), "gold")
    changed = ran(tmp_path / "c", official(tmp_path, HOLT | {"answer": "Holt"}), "gold")
    cases = [
        ([str(one), str(other)], "no question is in both"),
        ([str(one), str(changed)], "'q1' has other right answers"),
        ([str(one), str(tmp_path / "d")], "holds no run"),
        ([str(one), str(one), "--backend", "floor"], "has no backend 'floor'. There are gold"),
    ]
    for arguments, said in cases:
        capsys.readouterr()
        assert main(["eval", "compare", *arguments]) == 1
        assert said in " ".join(capsys.readouterr().err.split())


def test_questions_in_one_run_only_are_counted_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ran(tmp_path / "a", official(tmp_path, *ROWS), "gold")
    other = ran(tmp_path / "b", official(tmp_path, HOLT), "gold")
    capsys.readouterr()
    assert main(["eval", "compare", str(one), str(other)]) == 0
    assert "1 question in both, 2 in one only; 0 better, 0 worse" in capsys.readouterr().out
