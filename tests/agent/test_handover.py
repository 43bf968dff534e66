"""When a person takes over, and what they are told."""

from typing import Annotated, Any

import pytest
from pydantic import Field
from remask.agent import Agent
from remask.agent.errors import InvalidQuestion
from remask.agent.guard import Guard, Rule
from remask.agent.handover import Desk
from remask.dllm.scripted import NOTHING, ScriptedGenerator, pointing

from .shelf import LIBRARY, Shelf

PERSON = Rule(name="wants a person", when=("speak to a person",), do="hand over", say="Someone will call you.")
RUDE = Rule(name="rude", when=("idiot",), do="refuse", say="Please be kind.")
SAY = "A colleague takes over."
WHEN = "When did Mira Holt restore the fresco?"
UNKNOWN = "How much does the ferry cost?"


def state_of(number: Annotated[str, Field(pattern=r"AB-\d+")]) -> dict[str, str]:
    """Look up the state of an order by its number."""
    return {"number": number, "state": "shipped on 3 May"}


def desk(**how: Any) -> tuple[Desk, ScriptedGenerator]:
    shelf = Shelf(LIBRARY)
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "1952") if prompt.question == WHEN else NOTHING)
    agent = Agent(shelf, model, documents=shelf.document, tools=[state_of])
    return Desk(agent, Guard(rule=(PERSON, RUDE)), say=SAY, **how), model


def test_a_rule_hands_over_with_what_was_asked_and_told() -> None:
    talk, _ = desk()
    assert not talk.ask(WHEN).handed_over
    reply = talk.ask("Let me speak to a person about it.")
    assert (reply.text, reply.handed_over, reply.abstained) == ("Someone will call you.", True, True)
    assert reply.summary == (
        "Reason:\n- wants a person\n"
        f"Asked:\n- {WHEN}\n- Let me speak to a person about it.\n"
        "Told from the documents:\n- “In 1952 she restored the fresco of Saint Anne.” (mira)"
    )


def test_two_questions_in_a_row_without_an_answer_hand_over_and_an_answer_between_does_not() -> None:
    talk, _ = desk()
    assert not talk.ask(UNKNOWN).handed_over
    assert not talk.ask(WHEN).handed_over
    assert not talk.ask(UNKNOWN).handed_over
    reply = talk.ask(UNKNOWN)
    assert (reply.text, reply.handed_over) == (SAY, True)
    assert "nothing found" in reply.summary


def test_how_many_misses_hand_over_can_be_chosen() -> None:
    talk, _ = desk(misses=1)
    assert talk.ask(UNKNOWN).handed_over


def test_a_refused_question_is_no_miss() -> None:
    talk, _ = desk(misses=1)
    reply = talk.ask("You idiot!")
    assert (reply.text, reply.handed_over) == ("Please be kind.", False)


def test_after_a_hand_over_the_agent_is_asked_no_more() -> None:
    talk, model = desk()
    talk.ask("Let me speak to a person.")
    reply = talk.ask(WHEN)
    assert (reply.text, reply.handed_over, model.calls) == (SAY, True, [])
    assert f"- {WHEN}" in reply.summary


def test_what_a_tool_found_is_in_the_summary() -> None:
    talk, _ = desk()
    talk.ask("What is the state of my order, its number is AB-17?")
    reply = talk.ask("Let me speak to a person.")
    assert "Looked up:\n- state_of(number=AB-17): Number: AB-17. State: shipped on 3 May." in reply.summary


def test_facts_are_looked_up_even_where_a_rule_speaks() -> None:
    talk, _ = desk(facts=lambda question: ["AB-17 is late"] if "AB-17" in question else [])
    reply = talk.ask("AB-17 is missing, let me speak to a person.")
    assert "Looked up:\n- AB-17 is late" in reply.summary


def test_a_question_that_can_not_be_asked_is_the_callers_error_and_no_miss() -> None:
    talk, _ = desk(misses=1)
    with pytest.raises(InvalidQuestion):
        talk.ask(" ")
    assert not talk.handed_over
