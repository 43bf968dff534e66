"""`remask eval results`: a page of runs."""

from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.evals.plot import can_plot

from .sheets import ROWS, official


def ran(folder: Path, name: str, command: str = "hotpotqa", *more: str) -> Path:
    out = folder / name
    given = ("--data", str(official(folder)), "--backend", "gold", "--baseline", "floor", "--out", str(out))
    assert main(["eval", command, *given, *more]) == 0
    return out


def test_a_page_has_each_run_s_numbers_command_and_pictures_and_no_question(tmp_path: Path) -> None:
    runs = [ran(tmp_path, "first"), ran(tmp_path, "second", "latency", "--load", "0")]
    page = tmp_path / "kept" / "RESULTS.md"
    assert main(["eval", "results", *map(str, runs), "--out", str(page)]) == 0
    text = page.read_text()
    assert "| first | gold against floor | 3 | +" in text
    assert text.count("\n## ") == 2
    assert text.count("- command: `remask") == 2
    assert [row["question"] for row in ROWS if row["question"] in text] == []
    if can_plot():
        assert "![accuracy](RESULTS/first-accuracy.png)" in text
        pictures = sorted(path.name for path in (tmp_path / "kept" / "RESULTS").iterdir())
        assert pictures == ["first-accuracy.png", "first-time.png", "second-time.png"]


def test_what_is_no_finished_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ran(tmp_path, "run")
    for arguments, said in (
        ([str(tmp_path / "none")], "holds no run"),
        ([str(run), str(run)], "two of the runs have the same name: run, run"),
    ):
        assert main(["eval", "results", *arguments, "--out", str(tmp_path / "page.md")]) != 0
        assert said in " ".join(capsys.readouterr().err.split())
    (run / "report.md").unlink()
    assert main(["eval", "results", str(run), "--out", str(tmp_path / "page.md")]) == 1
    assert "has no report" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
