"""The agent answers from the documents, cites to the character, and says so when they don't carry an answer."""

from pathlib import Path

import pytest
from remask.agent import Agent

import agent as program

HERE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def agent() -> Agent:
    return program.load()


def test_an_answer_is_quoted_from_a_document_to_the_character(agent: Agent) -> None:
    answer = agent.ask("When was Kiln Lane Workshop founded?")
    assert "2011" in answer.text
    for citation in answer.citations:
        text = (HERE / "documents" / citation.document_id).read_text(encoding="utf-8")
        assert text[citation.start : citation.end] == citation.quote
    assert answer.citations[0].document_id in program.shown(answer)


def test_what_is_in_no_document_is_not_made_up(agent: Agent) -> None:
    answer = agent.ask("What is the capital of Mongolia?")
    assert answer.abstained
    assert program.words("no_answer") in program.shown(answer)
