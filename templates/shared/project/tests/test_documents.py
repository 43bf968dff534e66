"""The documents are there and say something, and the eval asks for nothing that they don't state."""

import re
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted((HERE / "documents").glob("*.md"))
TASK = HERE / "evals" / "task.toml"
if not TASK.exists():
    pytest.skip("there is no evals/task.toml", allow_module_level=True)
QUESTIONS = tomllib.loads(TASK.read_text(encoding="utf-8"))["question"]


def test_every_document_has_a_title_and_says_something() -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        assert re.match(r"# \S", text), path
        assert len(text.split()) > 40, path


def test_the_eval_cites_documents_that_are_there_and_wants_facts_that_they_state() -> None:
    texts = {path.name: spoken(path.read_text(encoding="utf-8")) for path in DOCUMENTS}
    for question in QUESTIONS:
        cited = [name for names in question.get("cite", []) for name in listed(names) if name in texts]
        known = [name for names in question.get("cite", []) for name in listed(names) if ":" not in name]
        assert set(known) <= texts.keys(), question["id"]
        for fact in question.get("facts", []) if cited else []:
            assert any(spoken(one) in texts[name] for one in listed(fact) for name in cited), (question["id"], fact)


def test_the_eval_has_questions_that_must_not_be_answered() -> None:
    kept_back = [question for question in QUESTIONS if "answer" not in listed(question.get("expect", "answer"))]
    assert len(kept_back) * 5 >= len(QUESTIONS)


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def spoken(text: str) -> str:
    """Words alone, as the eval compares them."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.casefold().replace(',', '')))} "
