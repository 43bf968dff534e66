"""Rules before and behind an agent: what they recognise, what is said first, and what is kept from being said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.agent.errors import GuardUnusable
from remask.agent.guard import Guard, Guarded, Rule
from remask.agent.phrases import matches
from remask.agent.reply import Reply
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval.document import Document

from .shelf import over

TABLETS = Document(
    id="paracetamol",
    title="Paracetamol",
    text="Adults may take paracetamol, 1 g at a time, up to 4 g a day. Keep it out of reach.",
)
EMERGENCY = Rule(name="emergency", when=("chest pain",), unless=("last year",), do="first", say="Call 112 now.")
DIAGNOSIS = Rule(name="diagnosis", when=("do i have",), do="refuse", say="A clinician must look at you.")
PERSON = Rule(name="person", when=("speak to|with a|the person",), do="hand over", say="Someone will write to you.")
DOSE = Rule(
    name="dose",
    when=("how much|many",),
    do="cited only",
    say="The leaflets don't say. Ask a pharmacist.",
    names=("paracetamol", "ibuprofen"),
)


def guarded(*rules: Rule) -> tuple[Guarded, ScriptedGenerator]:
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "4 g a day"))
    return Guarded(over([TABLETS], model), Guard(rule=rules)), model


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("chest pain", "I have CHEST PAIN!", True),
        ("chest pain", "chest pains", False),
        ("chest pain~", "chest pains", True),
        ("can't|cannot breathe", "She can’t breathe", True),
        ("can't|cannot breathe", "She can breathe", False),
        ("my * hurts", "my left upper arm hurts", True),
        ("my * hurts", "my hurts", True),
        ("my * hurts", "my arm that I broke when skiing hurts", False),
        ("~stroke", "sunstroke", True),
        ("stroke", "sunstroke", False),
        ("a.b", "axb", False),
    ],
)
def test_a_phrase_is_words_with_gaps_and_choices(phrase: str, text: str, found: bool) -> None:
    assert matches([phrase], text) is found


@given(st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=5), st.text(), st.text())
def test_plain_words_are_found_in_any_surroundings(words: list[str], before: str, after: str) -> None:
    assert matches([" ".join(words)], f"{before} {', '.join(words).upper()} {after}") or any(
        c in "'’" for c in (before[-1:] + after[:1])
    )


def test_what_is_urgent_is_said_before_the_answer_whose_citations_still_stand() -> None:
    agent, _ = guarded(EMERGENCY)
    reply = agent.ask("I have chest pain. How much paracetamol may an adult take?")
    assert reply.text == "Call 112 now.\n\n4 g a day"
    citation = reply.citations[0]
    assert reply.text[citation.answer_start : citation.answer_end] == "4 g a day"
    assert TABLETS.text[citation.start : citation.end] == citation.quote
    assert (reply.rule, reply.notice, reply.abstained) == ("emergency", "Call 112 now.", False)


def test_an_exception_keeps_a_rule_quiet() -> None:
    agent, _ = guarded(EMERGENCY)
    assert agent.ask("I had chest pain last year. How much paracetamol may I take?").text == "4 g a day"


def test_a_refused_question_is_never_asked() -> None:
    agent, model = guarded(EMERGENCY, DIAGNOSIS)
    reply = agent.ask("I have chest pain, do I have angina?")
    assert reply.text == "Call 112 now.\n\nA clinician must look at you."
    assert (reply.abstained, reply.handed_over, reply.citations, model.calls) == (True, False, (), [])


def test_a_hand_over_says_so() -> None:
    agent, _ = guarded(PERSON)
    reply = agent.ask("May I speak to the person in charge?")
    assert (reply.text, reply.handed_over, reply.abstained) == ("Someone will write to you.", True, True)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much paracetamol may an adult take?", "4 g a day"),
        ("How much ibuprofen may an adult take?", DOSE.say),
        ("How much paracetamol and ibuprofen may I take?", DOSE.say),
        ("How much paracetamol may my child of 6 take?", DOSE.say),
        ("How much of it makes 4 g?", "4 g a day"),
    ],
)
def test_an_answer_is_given_only_where_what_it_cites_names_what_was_asked(question: str, said: str) -> None:
    agent, _ = guarded(DOSE)
    reply = agent.ask(question)
    assert reply.text == said
    assert reply.abstained is (said == DOSE.say)


def test_without_a_rule_that_applies_the_answer_is_what_it_was() -> None:
    agent, _ = guarded(DIAGNOSIS)
    reply = agent.ask("What may an adult take?")
    assert isinstance(reply, Reply)
    assert (reply.text, reply.rule, reply.notice) == ("4 g a day", "", "")
    assert reply.answer is not None
    assert (reply.citations, reply.confidence) == (reply.answer.citations, reply.answer.confidence)


def test_rules_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "a"\nwhen = ["b"]\ndo = "refuse"\nsay = " No. "\n')
    assert Guard.read(tmp_path / "rules.toml").rule == (Rule(name="a", when=("b",), do="refuse", say="No."),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[rule]", "can't be read"),
        ('[[rule]]\nname = "a"\nwhen = ["b"]\ndo = "shout"\nsay = "No."', "rule, 0, do"),
        ('[[rule]]\nname = "a"\nwhen = []\ndo = "refuse"\nsay = "No."', "rule, 0, when"),
        ('[[rule]]\nname = "a"\nwhen = ["b"]\ndo = "refuse"\nsay = " "', "rule, 0, say"),
        ('[[rule]]\nname = "a"\nwhen = ["b"]\ndo = "first"\nsay = "No."\nnames = ["c"]', "belongs to rules"),
        ('[[rules]]\nname = "a"', "rules"),
    ],
)
def test_a_file_without_sound_rules_is_refused_by_key(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "rules.toml").write_text(text)
    with pytest.raises(GuardUnusable, match=complaint):
        Guard.read(tmp_path / "rules.toml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GuardUnusable, match=r"none\.toml"):
        Guard.read(tmp_path / "none.toml")
