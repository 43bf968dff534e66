"""The three sources of doubt, each with the span it should name."""

import pytest
from remask.agent import AgentOptions
from remask.agent.doubt import disputed, doubts, reason, spans, unsupported, unsure
from remask.agent.evidence import Reading
from remask.agent.support import LexicalScorer
from remask.agent.weigh import Weighed, weigh
from remask.dllm.draft import Draft, Kind, Token
from remask.dllm.scripted import pointing
from remask.retrieval.split import split

from .shelf import LIBRARY

WHEN = "When did Mira Holt restore the fresco of the chapel?"
READING = Reading.of(WHEN, [passage for document in LIBRARY for passage in split(document)])


def weighed(draft: Draft) -> Weighed:
    return weigh(draft, READING, LexicalScorer(), support_share=0.3)


def test_neighbouring_unsure_tokens_are_one_doubt() -> None:
    confidences = (0.9, 0.2, 0.1, 0.9, 0.3)
    draft = Draft("a b c d e", tuple(Token(2 * i, 2 * i + 1, c) for i, c in enumerate(confidences)))
    assert [(d.text, d.detail) for d in unsure(draft, 0.35)] == [("b c", "confidence 0.10"), ("e", "confidence 0.30")]


def test_a_draft_without_token_confidences_has_no_unsure_tokens() -> None:
    assert list(unsure(Draft("a b"), 0.35)) == []


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("She restored the fresco in 1952.", []),
        ("Mira Holt restored the fresco in 1952.", []),
        ("She restored the fresco of Saint Anne in 1953.", ["She restored the fresco of Saint Anne in 1953."]),
        ("In 1952 Berta Holt restored the fresco of Saint Anne.", ["Berta"]),
        ("Penguins restored themselves.", ["Penguins restored themselves."]),
        ("She restored the fresco in 1952. Penguins are birds.", ["Penguins are birds."]),
    ],
)
def test_free_text_is_doubted_where_the_evidence_does_not_say_it(text: str, doubtful: list[str]) -> None:
    assert [d.text for d in unsupported(weighed(Draft(text)))] == doubtful


def test_a_number_beside_a_pointed_name_is_doubted_alone() -> None:
    tokens = pointing(READING.prompt, "In 1952 she restored the fresco").tokens
    draft = Draft("In 1852 she restored the fresco", (tokens[0], *tokens[2:]))
    (doubt,) = unsupported(weighed(draft))
    assert (doubt.text, doubt.detail) == ("1852", "a number that the cited evidence lacks")


def test_pointed_words_are_never_foreign() -> None:
    assert list(unsupported(weighed(pointing(READING.prompt, "Saint Anne. She died")))) == []


def test_a_bare_yes_without_grounds_is_doubted() -> None:
    alone = Reading.of("Do penguins dance?", READING.passages)
    best = weigh(Draft("yes", kind="yes"), alone, LexicalScorer(), support_share=0.3)
    assert [d.text for d in unsupported(best)] == ["yes"]


@pytest.mark.parametrize(
    ("mine", "other", "doubtful"),
    [
        ("Paris", "Rome", ["Paris"]),
        ("Paris, Texas", "Paris", ["Texas"]),
        ("Paris", "Paris, Texas", []),
        ("paris", "Paris!", []),
        ("It opened in 1952 in Ulm", "It opened in 1953 in Bonn", ["1952", "Ulm"]),
    ],
)
def test_candidates_dispute_the_words_in_which_they_differ(mine: str, other: str, doubtful: list[str]) -> None:
    assert [d.text for d in disputed(Draft(mine), Draft(other))] == doubtful


def test_a_yes_is_disputed_by_a_no_and_by_a_span() -> None:
    kinds: tuple[Kind, ...] = ("no", "span")
    for kind in kinds:
        assert [d.text for d in disputed(Draft("yes", kind="yes"), Draft("other", kind=kind))] == ["yes"]


def test_only_a_strong_rival_raises_doubt() -> None:
    best, rival = pointing(READING.prompt, "1952", confidence=0.9), pointing(READING.prompt, "1990", confidence=0.3)
    assert doubts(weighed(best), [weighed(rival)], AgentOptions()) == ()
    assert [d.source for d in doubts(weighed(best), [weighed(rival)], AgentOptions(rival_share=0.2))] == ["disputed"]


def test_a_draft_that_says_nothing_leaves_nothing_to_doubt() -> None:
    assert doubts(weighed(Draft("", kind="none")), [weighed(Draft("1952", confidence=1))], AgentOptions()) == ()


def test_overlapping_doubts_are_remasked_as_one_span_and_each_reason_is_given() -> None:
    draft = Draft("Berta Huld in 1852", tuple(Token(a, b, c) for a, b, c in ((0, 5, 0.1), (6, 10, 0.9), (14, 18, 0.1))))
    found = doubts(weighed(draft), [weighed(Draft("Berta Huld", confidence=0.5))], AgentOptions())
    assert spans(found) == [(0, 18)]
    assert reason(found) == (
        "unsure (confidence 0.10); unsupported (no sentence of the evidence says it); "
        "disputed (another candidate says 'Berta Huld')"
    )
