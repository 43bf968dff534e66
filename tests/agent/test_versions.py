"""Documents that differ: the newer one speaks first, both are cited, and a report lists the contradiction."""

from datetime import date
from typing import Annotated

import pytest
from pydantic import Field
from remask.agent import Agent
from remask.agent.dated import dated, dates
from remask.agent.report import report
from remask.agent.versions import Versions, differ
from remask.dllm.draft import Draft, Prompt
from remask.dllm.scripted import NOTHING, ScriptedGenerator, pointing
from remask.retrieval.document import Document

from .shelf import Shelf, over

OLD = Document(id="old", title="Screening", text="Reviewed 3 May 2016. Bowel screening begins at the age of 50 years.")
NEW = Document(id="new", title="Screening", text="Reviewed 7 June 2022. Bowel screening begins at the age of 45 years.")
SAME = Document(id="same", title="Screening", text="Printed in March 2023. Bowel screening begins at 45 years.")
FERRY = Document(id="ferry", title="Ferry", text="Bowel screening is no matter of the ferry, which is 50 years old.")
QUESTION = "At what age does bowel screening begin?"


def first_age(prompt: Prompt) -> Draft:
    """Reads the first passage only, as a model may."""
    age = next((age for age in ("50 years", "45 years") if age in prompt.evidence[0].text), None)
    return pointing(prompt, age) if age else NOTHING


@pytest.mark.parametrize("library", [[OLD, NEW], [NEW, OLD]])
def test_the_newer_document_speaks_first_whichever_the_agent_read_first(library: list[Document]) -> None:
    reply = Versions(over(library, ScriptedGenerator(first_age))).ask(QUESTION)
    assert reply.text == (
        "45 years\n\nFrom “Screening” of 7 June 2022.\n\n"
        "An older document, “Screening” of 3 May 2016, says something else:\n\n50 years"
    )
    assert [one.document_id for one in reply.citations] == ["new", "old"]
    assert [reply.text[one.answer_start : one.answer_end] for one in reply.citations] == ["45 years", "50 years"]
    assert not reply.abstained


def test_documents_that_agree_leave_the_answer_alone_with_its_date() -> None:
    reply = Versions(over([NEW, SAME], ScriptedGenerator(first_age))).ask(QUESTION)
    assert reply.text == "45 years\n\nFrom “Screening” of 7 June 2022."
    assert [one.document_id for one in reply.citations] == ["new"]


def test_a_quotation_that_is_not_on_the_question_does_not_differ_from_it() -> None:
    reply = Versions(over([NEW, FERRY], ScriptedGenerator(first_age))).ask(QUESTION)
    assert "50" not in reply.text


def test_what_a_tool_said_is_of_one_case_and_is_asked_for_once() -> None:
    looked_up: list[str] = []

    def screening_of(number: Annotated[str, Field(pattern=r"P-\d+")]) -> dict[str, str]:
        """Look up the age at which a patient's bowel screening begins."""
        looked_up.append(number)
        return {"patient": number, "age": "50 years"}

    shelf = Shelf([OLD, NEW])
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "50 years"))
    agent = Agent(shelf, model, documents=shelf.document, tools=[screening_of])
    reply = Versions(agent).ask("At what age does the bowel screening of the patient P-7 begin?")
    assert looked_up == ["P-7"]
    assert (reply.text, reply.citations[0].document_id) == ("50 years", "tool:screening_of")


def test_an_abstention_stays_one() -> None:
    reply = Versions(over([OLD, NEW], ScriptedGenerator())).ask(QUESTION)
    assert (reply.abstained, reply.citations) == (True, ())


def test_a_document_without_a_date_speaks_after_one_with() -> None:
    undated = Document(id="undated", title="Screening", text="Bowel screening begins at the age of 50 years.")
    reply = Versions(over([undated, NEW], ScriptedGenerator(first_age))).ask(QUESTION)
    assert reply.text.startswith("45 years")
    assert "Another document, “Screening”, undated, says something else:" in reply.text


@pytest.mark.parametrize(
    ("one", "other", "different"),
    [
        ("at 45", "45 years", False),
        ("at 45", "50 years", True),
        ("45 to 75", "45", False),
        ("Mira Holt", "the painter Mira Holt", False),
        ("Mira Holt", "Anna Blau", True),
    ],
)
def test_answers_differ_in_numbers_or_in_most_words(one: str, other: str, different: bool) -> None:
    said = [
        over([OLD], ScriptedGenerator([Draft("50 years", confidence=0.9)]))
        .ask(QUESTION)
        .model_copy(update={"text": text})
        for text in (one, other)
    ]
    assert differ(*said) is different
    assert differ(*reversed(said)) is different


def test_yes_differs_from_no_and_from_nothing_else() -> None:
    answer = over([OLD], ScriptedGenerator([Draft("50 years", confidence=0.9)])).ask(QUESTION)
    yes, no = (answer.model_copy(update={"text": kind, "kind": kind}) for kind in ("yes", "no"))
    assert differ(yes, no)
    assert not differ(yes, yes)


def test_a_report_cites_each_statement_and_lists_the_contradiction() -> None:
    found = report(over([OLD, NEW, SAME], ScriptedGenerator(first_age)), QUESTION)
    assert [version.document_id for version in found.versions] == ["same", "new", "old"]
    assert [(c.one.document_id, c.other.document_id) for c in found.contradictions] == [("same", "old"), ("new", "old")]
    page = found.markdown()
    assert "- “Screening” of 7 June 2022: 45 years [2]" in page or "45 years [3]" in page
    body, sources = page.split("## Sources")
    for number in range(1, 4):
        assert f"[{number}]" in body
        assert f"{number}. " in sources
    assert "old, characters 21 to 67: “Bowel screening begins at the age of 50 years.”" in sources


def test_a_report_without_an_answer_says_why() -> None:
    found = report(over([OLD], ScriptedGenerator()), QUESTION)
    assert found.abstained
    assert found.answer.reason in found.markdown()
    assert "## Sources" not in found.markdown()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("# T\n\nReviewed: 3 March 2021", date(2021, 3, 3)),
        ("Valid from 1st of May, 2019", date(2019, 5, 1)),
        ("March 3, 2021", date(2021, 3, 3)),
        ("Sept. 2020", date(2020, 9, 1)),
        ("2021-12-31", date(2021, 12, 31)),
        ("31 June 2021, then 1 July 2021", date(2021, 7, 1)),
        ("In 2021 we may 20 times", None),
        ("x" * 500 + " 3 March 2021", None),
    ],
)
def test_a_document_bears_the_first_date_near_its_top(text: str, day: date | None) -> None:
    assert dated(Document(id="a", text=text)) == day


def test_a_date_in_the_metadata_counts_before_the_text() -> None:
    document = Document(id="a", text="3 March 2021", metadata={"date": "2024-01-02"})
    assert dated(document) == date(2024, 1, 2)
    assert dated(document.model_copy(update={"metadata": {"date": 7}})) == date(2021, 3, 3)


def test_a_day_is_not_read_twice_as_a_month_alone() -> None:
    assert list(dates("3 March 2021")) == [date(2021, 3, 3)]
