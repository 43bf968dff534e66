"""Citations judged by ALCE's definitions, each number worked out by hand, and the command as its user meets it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from remask.agent.answer import Citation
from remask.agent.cli import main
from remask.agent.support import LexicalScorer
from remask.dllm.draft import Draft, Prompt
from remask.dllm.scripted import ScriptedGenerator
from remask.evals.alce import cited, precise_citations, together
from remask.evals.asking import Row
from remask.evals.citations import exact, scores
from remask.evals.reread import Reread
from remask.retrieval import Document

from .sheets import HOLT, ROWS, official

FIRST, SECOND = "It was painted in 1650.", "It hangs in Rome."
ANSWER = f"{FIRST} {SECOND}"


def quote(text: str, start: int, end: int, *, document: str = "d", at: int = 0, title: str = "") -> Citation:
    return Citation(
        answer_start=start,
        answer_end=end,
        document_id=document,
        passage_id=document,
        start=at,
        end=at + len(text),
        quote=text,
        title=title,
        support=0.5,
    )


class Words:
    """Supports a statement when the evidence has all of its numbers and capitalised words."""

    name = "words"

    def __call__(self, question: str, statement: str, evidence: str) -> float:
        wanted = [word.strip(".") for word in statement.split()[1:] if word[0].isupper() or word[0].isdigit()]
        return float(bool(evidence) and all(word in evidence for word in wanted))


def judged(*citations: Citation, answer: str = ANSWER) -> tuple[float, float]:
    found = cited("Where is it?", answer, citations, Words(), supported_from=0.5)
    return found.recall, found.precision


def test_each_sentence_needs_its_own_quotation() -> None:
    one, other = quote("Made in 1650", 0, len(FIRST)), quote("Now in Rome", len(FIRST) + 1, len(ANSWER), at=50)
    assert judged(one, other) == (1.0, 1.0)
    assert judged(one) == (0.5, 1.0)
    assert judged() == (0.0, 0.0)


def test_a_quotation_beside_the_wrong_sentence_supports_neither() -> None:
    swapped = quote("Now in Rome", 0, len(FIRST)), quote("Made in 1650", len(FIRST) + 1, len(ANSWER), at=50)
    assert judged(*swapped) == (0.0, 0.0)


def test_a_superfluous_quotation_costs_precision_and_not_recall() -> None:
    needed, idle = quote("Made in 1650", 0, len(FIRST)), quote("A fine frame", 0, len(FIRST), at=50)
    assert judged(needed, idle, answer=FIRST) == (1.0, 0.5)


def test_two_quotations_that_only_carry_it_together_are_both_precise() -> None:
    answer = "It was painted by Holt in 1650."
    halves = quote("by Holt", 0, len(answer)), quote("in 1650", 0, len(answer), at=50)
    assert judged(*halves, answer=answer) == (1.0, 1.0)


def test_two_quotations_that_each_carry_it_alone_are_both_precise() -> None:
    twice = quote("Made in 1650", 0, len(FIRST)), quote("From 1650", 0, len(FIRST), at=50)
    assert judged(*twice, answer=FIRST) == (1.0, 1.0)


def test_one_place_quoted_for_two_parts_of_a_sentence_counts_once() -> None:
    assert judged(quote("Made in 1650", 0, 2), quote("Made in 1650", 3, 6), answer=FIRST) == (1.0, 1.0)


def test_precision_agrees_with_the_reference_loop_over_every_small_case() -> None:
    """princeton-nlp/ALCE's loop over references, written out, for up to three quotations and any entailment."""
    shown = [quote(str(n), 0, 1, at=10 * n) for n in range(3)]
    for table in range(256):

        def entails(statement: str, some: Sequence[Citation], table: int = table) -> bool:
            return bool(table >> sum(1 << int(c.quote) for c in some) & 1)

        for count in range(4):
            references = shown[:count]
            wanted = 0
            joint = bool(references) and entails("", references)
            if joint and len(references) > 1:
                for one in references:
                    if entails("", [one]) or not entails("", [other for other in references if other is not one]):
                        wanted += 1
            else:
                wanted += joint
            assert precise_citations("", references, entails) == wanted


def test_yes_is_judged_by_the_question() -> None:
    shown = [quote("The Blau is a river.", 0, 3, title="Blau")]
    found = cited("Is the Blau a river?", "yes", shown, LexicalScorer(), supported_from=1.0)
    assert found == (1.0, 1.0, 1.0)


def test_titles_stand_before_quotations() -> None:
    assert together([quote("It is long.", 0, 1, title="Blau"), quote("No title.", 0, 1, at=20)]) == (
        "Blau: It is long.\nNo title."
    )


def row(answer: str, citations: Sequence[Citation] = (), *, answers: tuple[str, ...] = ("x",)) -> Row:
    return Row(
        backend="b",
        id="1",
        question="Where is it?",
        answers=answers,
        gold=None,
        answer=answer,
        facts=(),
        confidence=0.5,
        abstained=not answer,
        scores={"em": 0.0},
        citations=tuple(citations),
        seconds={"total": 1.0},
    )


@pytest.mark.parametrize(
    ("citation", "valid"),
    [
        (quote("Rome", 0, 5, at=3), True),
        (quote("rome", 0, 5, at=3), False),
        (quote("Rome", 0, 5, at=4), False),
        (quote("Rome", 0, 6, at=3), False),
        (quote("Rome", 5, 5, at=3), False),
        (quote("Rome", 0, 5, at=3, document="gone"), False),
    ],
)
def test_a_quotation_is_exact_to_the_character_and_stands_beside_a_part_of_the_answer(
    citation: Citation, valid: bool
) -> None:
    documents = {"d": Document(id="d", text="In Rome.")}
    assert exact(row("Rome.", [citation]), 0, documents.__getitem__) is valid


def test_only_what_has_a_meaning_is_scored() -> None:
    documents = {"d": Document(id="d", text="In Rome.")}
    stray = quote("Rome", 0, 4, at=3)

    def judge(asked: Row) -> dict[str, float]:
        return scores(asked, documents.__getitem__, Words(), supported_from=0.5)

    assert judge(row("")) == {}
    assert judge(row("", answers=())) == {"cited_unanswerable": 0.0}
    assert judge(row("Rome", answers=())) == {
        "cited_unanswerable": 0.0,
        "cite_recall": 0.0,
        "cite_prec": 0.0,
        "support": 0.0,
        "any_citation": 0.0,
    }
    found = judge(row("Rome", [stray], answers=()))
    assert (found["cited_unanswerable"], found["span_valid"], found["any_citation"]) == (1.0, 1.0, 1.0)


def test_rereading_asks_whether_the_quotations_alone_give_the_same_answer() -> None:
    def reader(prompt: Prompt) -> Draft:
        text = prompt.evidence[0].text
        return Draft("Mira Holt", confidence=0.9, answerable=0.8) if "Holt" in text else Draft("", kind="none")

    judge = Reread(ScriptedGenerator(reader))
    assert judge.name == "reread by scripted"
    assert judge("Who?", "Mira Holt", "Mira Holt did.") == 1.0
    assert judge("Who?", "Holt", "Mira Holt did.") == pytest.approx(2 / 3)
    assert judge("Who?", "Mira Holt", "Someone did.") == 0.0
    assert judge("Did she?", "", "Mira Holt did.") == 0.8


def asked(out: Path, *arguments: str) -> dict[str, Any]:
    assert main(["eval", "citations", "--out", str(out), *arguments]) == 0
    metrics = json.loads((out / "report.json").read_text())["scores"][0]["metrics"]
    return {name: (interval["value"], interval["n"]) for name, interval in metrics.items()}


def test_the_ceiling_quotes_exactly_and_the_report_names_the_scorer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    none = {**HOLT, "_id": "q4", "question": "What did it cost?", "answers": [], "supporting_facts": None}
    data = official(tmp_path, *ROWS, none)
    found = asked(tmp_path / "out", "--data", str(data), "--backend", "gold", "--supported-from", "0.5")
    assert found["span_valid"] == found["any_citation"] == found["marked_recall"] == (1.0, 3)
    assert found["cited_unanswerable"] == (0.0, 1)
    assert found["cite_recall"] == (1.0, 3)
    assert "support: lexical, supported from 0.5" in capsys.readouterr().out
    assert "support scorer: lexical" in (tmp_path / "out" / "report.md").read_text()


def test_an_unknown_scorer_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(official(tmp_path))
    arguments = ["--data", data, "--backend", "gold", "--scorer", "nli", "--out", str(tmp_path / "out")]
    assert main(["eval", "citations", *arguments]) == 2
    assert "There are lexical, reread" in " ".join(capsys.readouterr().err.split())
