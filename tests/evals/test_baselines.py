"""The floor and the ceiling, as any backend: through the generator's protocol."""

import pytest
from remask.agent.console import UsageError
from remask.dllm.draft import Draft, Evidence, Prompt, finish
from remask.evals.backend import ONCE, open_backends
from remask.evals.floor import SentenceFloor
from remask.evals.gold import GoldCeiling

from .sheets import HOLT, RIVERS, WHALE, question

RIVER = Evidence("The Blau is a river. It is 22 km long.", "Blau", ((0, 20), (21, 38)))
PAINTER = Evidence("In 1952 MIRA HOLT restored the fresco of Saint Anne.", "Mira Holt", ((0, 52),))


def test_the_floor_quotes_the_sentence_that_shares_most_with_the_question() -> None:
    (draft,) = finish(SentenceFloor().draft(Prompt("How long is the Blau, in km?", (PAINTER, RIVER))))
    assert draft.text == "It is 22 km long."
    assert [(s.evidence, s.start, s.end) for s in draft.cited] == [(1, 21, 38)]


def test_the_floor_says_nothing_where_no_word_is_shared() -> None:
    for evidence in ((), (RIVER,)):
        (draft,) = finish(SentenceFloor().draft(Prompt("Quantum?", evidence)))
        assert (draft.kind, draft.text) == ("none", "")


def test_the_ceiling_quotes_the_answer_as_the_evidence_writes_it() -> None:
    (draft,) = finish(GoldCeiling([question(HOLT)]).draft(Prompt(HOLT["question"], (RIVER, PAINTER))))
    assert draft.text == "MIRA HOLT"
    assert {token.source.evidence for token in draft.tokens if token.source} == {1}


def test_the_ceiling_is_silent_where_the_evidence_lacks_the_answer() -> None:
    ceiling = GoldCeiling([question(HOLT), question(RIVERS)])
    for asked in (HOLT, RIVERS):
        (draft,) = finish(ceiling.draft(Prompt(asked["question"], (RIVER,))))
        assert (draft.kind, draft.text) == ("none", "")
    assert finish(ceiling.draft(Prompt("Another question?", (PAINTER,))))[0].kind == "none"


def test_the_ceiling_says_yes_with_both_paragraphs_before_it() -> None:
    iller = Evidence("The Iller is a river in Bavaria.", "Iller")
    (draft,) = finish(GoldCeiling([question(RIVERS)]).draft(Prompt(RIVERS["question"], (RIVER, iller))))
    assert (draft.text, draft.kind, [s.evidence for s in draft.cited]) == ("yes", "yes", [0, 1])


@pytest.mark.parametrize("backend", [SentenceFloor(), GoldCeiling([question(WHALE)])])
def test_refining_changes_nothing(backend: SentenceFloor | GoldCeiling) -> None:
    prompt = Prompt(WHALE["question"], (RIVER, PAINTER))
    (draft,) = finish(backend.draft(prompt))
    (again,) = finish(backend.refine(prompt, draft, [(0, 3)]))
    assert isinstance(again, Draft)
    assert (again.text, again.cited) == (draft.text, draft.cited)


def test_an_endpoint_is_asked_like_any_baseline_and_named_by_its_model() -> None:
    (backend,) = open_backends(["openai:http://127.0.0.1:9/v1#org/model"], [])
    assert (backend.name, backend.options) == ("openai:org/model", ONCE)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["embeded"], "no backend is called 'embeded'"),
        (["floor:5"], "no backend is called 'floor:5'"),
        (["gold", "gold"], "the backend 'gold' is given twice"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_loaded(names: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_backends(names, [])
