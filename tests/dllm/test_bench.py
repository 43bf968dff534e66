"""The bench command at a size that says nothing but that it runs, and its arithmetic by hand."""

import time
from pathlib import Path

import pytest
import torch
from remask.dllm.bench import main
from remask.dllm.checkpoints.speed import answer, peak_memory, ratio, subject, ways


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("bench") / "RESULTS.md"
    sizes = ["--prompts", "16,32", "--prompt", "32", "--answers", "8,16", "--answer", "16", "--rounds", "2"]
    assert main(["decode", "--shape", "tiny", *sizes, "--out", str(out)]) == 0
    return Path(out).read_text(encoding="utf-8")


def test_the_report_has_every_way_at_every_length(report: str) -> None:
    for heading in ("Prompt 32, answer 16, 2 interleaved rounds", "Prompt 16, answer 16, 1", "Prompt 16, answer 8, 1"):
        assert heading in report
    assert report.count("| word by word |") == 3
    assert report.count("| prompt read once |") == 3 + 1  # and once for its memory
    assert "says nothing about a GPU" in report.replace("say ", "says ")


def test_a_way_makes_the_passes_that_it_says(report: str) -> None:
    it = subject("tiny", dtype=torch.float32, device="cpu", positions=64)
    passes = {way.name: answer(it, way, prompt=12, slots=16).passes for way in ways(4)}
    assert passes == {
        "full passes, 1 token each": 16,
        "full passes": 4,
        "prefix cache": 4,
        "dual cache": 4,
        "prompt read once": 4,
        "word by word": 16,
    }


def test_no_time_left_leaves_lengths_out_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--prompts", "8,16", "--prompt", "8", "--answers", "8", "--answer", "8", "--rounds", "1", "--seconds", "0"]
    assert main(["decode", "--shape", "tiny", *sizes]) == 0
    assert "prompt 16, answer 8: left out" in capsys.readouterr().out


def test_a_ratio_and_its_interval() -> None:
    middle, low, high = ratio([10.0, 12.0, 11.0], [5.0, 5.0, 6.0])
    assert middle == pytest.approx(33 / 16)
    assert 11 / 6 <= low <= middle <= high <= 12 / 5


def test_peak_memory_sees_what_was_allocated_and_given_back() -> None:
    with peak_memory(torch.device("cpu")) as peak:
        held = torch.ones(30_000_000)
        time.sleep(0.2)  # it looks now and then; a busy machine may keep it from looking
        del held
    assert peak.bytes > 60_000_000 or not Path("/proc/self/statm").exists()
