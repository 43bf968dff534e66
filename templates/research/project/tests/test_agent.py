"""A report quotes what it says, numbers its sources, and leaves a file that exists alone."""

import re
import sys
from pathlib import Path

import pytest

import agent as program

HERE = Path(__file__).resolve().parents[1]


def test_a_report_quotes_its_papers_to_the_character_and_numbers_them() -> None:
    found = program.answer("Who designed and built the Orrin buoy?")
    assert not found.abstained
    for citation in (*found.citations, *(one for version in found.versions for one in version.answer.citations)):
        text = (HERE / "documents" / citation.document_id).read_text(encoding="utf-8")
        assert text[citation.start : citation.end] == citation.quote
    body, sources = found.markdown().split("## Sources")
    assert set(re.findall(r"\[(\d+)\]", body)) == set(re.findall(r"^(\d+)\.", sources, re.MULTILINE))
    assert "## Contradictions" in body


def test_a_report_never_overwrites_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report.md").write_text("mine")
    monkeypatch.setattr(
        sys, "argv", ["agent.py", "--out", str(tmp_path / "report.md"), "What is the capital of Mongolia?"]
    )
    with pytest.raises(FileExistsError):
        program.main()
    assert (tmp_path / "report.md").read_text() == "mine"
