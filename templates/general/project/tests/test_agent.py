"""The agent answers from the documents, cites to the character, and says so when they don't carry an answer."""

import re
import tomllib
from pathlib import Path

import pytest

import agent as program
from remask.agent import Agent

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


def test_every_document_has_a_title_and_says_something() -> None:
    documents = sorted((HERE / "documents").glob("*.md"))
    assert len(documents) >= 40
    for path in documents:
        assert re.match(r"# \S", path.read_text(encoding="utf-8")), path


def test_the_eval_names_documents_that_are_there_and_facts_that_they_state() -> None:
    texts = {path.name: spoken(path.read_text(encoding="utf-8")) for path in (HERE / "documents").glob("*.md")}
    for question in tomllib.loads((HERE / "evals" / "task.toml").read_text(encoding="utf-8"))["question"]:
        cited = [name for names in question.get("cite", []) for name in listed(names)]
        assert set(cited) <= texts.keys(), question["id"]
        for fact in question.get("facts", []):
            assert any(spoken(one) in texts[name] for one in listed(fact) for name in cited or texts), (question["id"], fact)


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def spoken(text: str) -> str:
    """Words alone, as the eval compares them."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.casefold().replace(',', '')))} "
