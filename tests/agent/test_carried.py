"""What becomes of statements that nothing carries: they are flagged, or they go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.agent.carried import without
from remask.dllm.draft import Draft, Mark, Token
from remask.dllm.scripted import ScriptedGenerator

from .shelf import LIBRARY, over

WHEN = "When did Mira Holt restore the fresco of Saint Anne?"
TRUE = "Mira Holt restored the fresco in 1952."
FALSE = "She was paid in Danish butter."


def draft(*parts: str) -> Draft:
    text = " ".join(parts)
    return Draft(text, (Token(0, 9, 0.9),), confidence=0.9, marks=(Mark(len(text), 0),))


def test_an_unsupported_statement_is_flagged_and_stays() -> None:
    answer = over(LIBRARY, ScriptedGenerator([draft(TRUE, FALSE)])).ask(WHEN)
    assert answer.text == f"{TRUE} {FALSE}"
    assert [(doubt.text, doubt.source) for doubt in answer.trace.doubts] == [(FALSE, "unsupported")]


@pytest.mark.parametrize("parts", [(TRUE, FALSE), (FALSE, TRUE)])
def test_an_unsupported_statement_is_dropped_and_the_trace_tells(parts: tuple[str, str]) -> None:
    model = ScriptedGenerator([draft(*parts)])
    answer = over(LIBRARY, model, unsupported="drop").ask(WHEN)
    assert answer.text == TRUE
    assert answer.trace.doubts == ()
    assert [(c.answer_start, c.answer_end, c.document_id) for c in answer.citations] == [(0, len(TRUE), "mira")]
    last = answer.trace.refinements[-1]
    assert (last.before, last.after, last.kept) == (" ".join(parts), TRUE, True)
    assert [doubt.text for doubt in last.doubts] == [FALSE]


def test_an_answer_that_nothing_carries_at_all_is_abstained_from() -> None:
    answer = over(LIBRARY, ScriptedGenerator([draft(FALSE)]), unsupported="drop").ask(WHEN)
    assert answer.abstained
    assert answer.trace.refinements[-1:] == () or not answer.trace.refinements[-1].kept


def test_a_supported_answer_is_left_alone() -> None:
    answer = over(LIBRARY, ScriptedGenerator([draft(TRUE)]), unsupported="drop").ask(WHEN)
    assert (answer.text, answer.trace.refinements) == (TRUE, ())


@given(st.lists(st.text("abc. ", min_size=1, max_size=8), min_size=1, max_size=5), st.data())
def test_what_is_left_keeps_its_tokens_and_their_words(parts: list[str], data: st.DataObject) -> None:
    text, bounds = "", []
    for part in parts:
        bounds.append((len(text), len(text) + len(part)))
        text += part
    gone = data.draw(st.lists(st.sampled_from(bounds), max_size=2))
    before = Draft(text, tuple(Token(start, end, 0.5) for start, end in bounds))
    after = without(before, gone)
    said = [before.text[t.start : t.end] for t in before.tokens if (t.start, t.end) not in gone]
    kept = [after.text[t.start : t.end] for t in after.tokens]
    assert all(token.end <= len(after.text) for token in after.tokens)
    assert all(any(word.startswith(left) or word.endswith(left) for word in said) for left in kept)
