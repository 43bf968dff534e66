"""`remask eval task` as its user meets it: over an index, and with an agent of their own."""

import json
from pathlib import Path
from typing import Any

import pytest
from remask.agent.cli import main
from remask.retrieval import Document, HashEmbedder, build

TASK = """
[task]
name = "chapel"
[[question]]
id = "restorer"
text = "Who restored the fresco of Saint Anne?"
facts = ["Mira Holt"]
cite = ["holt.txt"]
tags = ["people"]
[[question]]
id = "whale"
text = "What does the fresco of Saint Anne show?"
facts = ["a whale"]
cite = ["chapel.txt"]
[[question]]
id = "price"
text = "What did the restoration cost?"
expect = "abstain"
"""
HOLT = "Mira Holt was a painter. In 1952 Mira Holt restored the fresco of Saint Anne."
CHAPEL = "Saint Anne is a chapel. Its fresco shows a whale."
OWN = """
from dataclasses import dataclass, field
from words import FRIENDLY

@dataclass
class Reply:
    text: str
    handed_over: bool = False
    abstained: bool = False
    confidence: float = 0.5
    citations: list = field(default_factory=list)

@dataclass
class Quote:
    document_id: str
    quote: str
    start: int = 0
    end: int = 5

class Desk:
    def ask(self, question):
        if "restored" in question:
            return Reply("It was Mira Holt.", citations=[Quote("texts/holt.txt", "Mira ")])
        return Reply(FRIENDLY, handed_over=True)

desk = Desk()
number = 3
"""


@pytest.fixture
def index(tmp_path: Path) -> Path:
    documents = [
        Document(id="holt.txt", title="Holt", text=HOLT),
        Document(id="chapel.txt", title="Saint Anne", text=CHAPEL),
    ]
    build(documents, tmp_path / "index", embedder=HashEmbedder())
    return tmp_path / "index"


def asked(folder: Path, text: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the metrics of the first backend."""
    (folder / "chapel.toml").write_text(text, encoding="utf-8")
    code = main(["eval", "task", str(folder / "chapel.toml"), "--out", str(folder / "out"), *arguments])
    report = folder / "out" / "report.json"
    metrics = json.loads(report.read_text())["scores"][0]["metrics"] if report.exists() else {}
    return code, {name: (interval["value"], interval["n"]) for name, interval in metrics.items()}


def test_what_is_known_is_resolved_and_what_is_not_is_abstained_from(
    tmp_path: Path, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = asked(tmp_path, TASK, "--index", str(index), "--backend", "gold", "--baseline", "floor")
    assert code == 0
    assert found == {
        "handled": (1.0, 3),
        "wrong": (0.0, 3),
        "resolved": (1.0, 2),
        "answer_precision": (1.0, 2),
        "facts": (1.0, 2),
        "cited": (1.0, 2),
        "abstain_precision": (1.0, 1),
        "abstain_recall": (1.0, 1),
    }
    shown = capsys.readouterr()
    assert "| gold | 3 | 100.0 [100.0, 100.0]" in shown.out
    assert "| price | floor |" not in shown.out
    text = (tmp_path / "out" / "report.md").read_text()
    assert "| price | floor | What did the restoration cost? |" in text
    assert "wanted: abstain" in text
    assert (tmp_path / "out" / "report.html").exists()


def test_a_missed_bar_fails_the_command_and_says_which(
    tmp_path: Path, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bars = TASK + "[bars]\nwrong = 0.2\nhandled = 0.1\n"
    code, found = asked(tmp_path, bars, "--index", str(index), "--backend", "floor")
    assert code == 1
    assert found["wrong"] == (pytest.approx(2 / 3, abs=1e-6), 3)
    assert "'wrong' is 0.67, and the task's bar is at most 0.20" in " ".join(capsys.readouterr().err.split())


def test_an_agent_of_one_s_own_is_asked_and_may_hand_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "agent.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "words.py").write_text("FRIENDLY = 'A colleague will call you.'", encoding="utf-8")
    text = TASK.replace('expect = "abstain"', 'expect = "hand over"')
    code, found = asked(tmp_path, text, "--agent", f"{tmp_path / 'agent.py'}:desk")
    assert code == 0
    assert found == {
        "handled": (pytest.approx(2 / 3, abs=1e-6), 3),
        "wrong": (0.0, 3),
        "resolved": (0.5, 2),
        "answer_precision": (1.0, 1),
        "facts": (1.0, 1),
        "cited": (1.0, 1),
        "hand_over_precision": (0.5, 2),
        "hand_over_recall": (1.0, 1),
    }
    assert "| whale | agent.py:desk | What does the fresco of Saint Anne show? | handed over | wanted: answer |" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either --index DIR, or --docs PATH, or --agent"),
        (["--agent", "agent.py"], "names no agent. Write FILE.py:NAME"),
        (["--agent", "nowhere.py:agent"], "there is no file 'nowhere.py'"),
        (["--agent", "agent.py:number"], "has no 'number' that is a function"),
        (["--agent", "agent.py:desk", "--docs", "."], "leave out --index and --docs"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text("number = 3", encoding="utf-8")
    assert asked(tmp_path, TASK, *arguments)[0] == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_two_runs_of_a_task_can_be_compared(tmp_path: Path, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path, TASK, "--index", str(index), "--backend", "floor", "--baseline", "gold")
    capsys.readouterr()
    out = str(tmp_path / "out")
    assert main(["eval", "compare", out, out, "--backend", "floor", "--backend", "gold"]) == 0
    text = capsys.readouterr().out
    assert "| wrong answers | 66.7" in text
    assert "| price | What did the restoration cost? | (none) |" in text
