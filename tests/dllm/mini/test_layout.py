"""Layouts: what the reader is shown, and that every token finds its way back to its characters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.mini.layout import (
    MARK_SENTENCE,
    MARK_TITLE,
    Layout,
    LayoutOptions,
    Words,
    arrange,
    beginnings,
)
from remask.dllm.mini.weights import load_words

OPTIONS = LayoutOptions(max_window=64, max_question=16, max_windows=4, pack=True)


@pytest.fixture(scope="module")
def words() -> Words:
    return load_words()


def evidence_tokens(layout: Layout, number: int) -> np.ndarray:
    return np.flatnonzero((layout.evidence_WT == number) & layout.pointable_WT)


def test_a_token_points_at_its_characters_case_and_accents_kept(words: Words) -> None:
    text = "Dr. Müller met ÉLODIE in Paris."
    layout = arrange(words, Prompt("Whom did he meet?", (Evidence(text),)), OPTIONS)
    at = evidence_tokens(layout, 0)
    spelled = {text[layout.starts_WT.flat[i] : layout.ends_WT.flat[i]] for i in at}
    assert {"Dr", "Paris"} <= spelled
    whole = layout.source(int(at[0]), int(at[-1]))
    assert text[whole.start : whole.end] == text


def test_sentences_and_titles_are_marked_at_their_first_token(words: Words) -> None:
    text = "It rained. It snowed."
    layout = arrange(words, Prompt("Weather?", (Evidence(text, "March", ((0, 10), (11, 21))),)), OPTIONS)
    assert (layout.marks_WT == MARK_TITLE).sum() == 1
    begins = layout.starts_WT[layout.marks_WT == MARK_SENTENCE]
    assert begins.tolist() == [0, 11]


def test_an_answer_begins_at_what_says_something(words: Words) -> None:
    text = "# Fees\n\n- *Late* fee: $5 (of 2011). | --- | 20 % ✓"
    layout = arrange(words, Prompt("What fee?", (Evidence("No."), Evidence(text))), OPTIONS)
    allowed = beginnings(layout, ["No.", text])
    at = [i for i in evidence_tokens(layout, 1) if allowed.flat[i]]
    assert [text[layout.starts_WT.flat[i] :].split()[0] for i in at] == [
        *("Fees", "*Late*", "Late*", "fee:", "$5", "5", "(of", "of", "2011).", "20", "✓")
    ]
    assert not allowed[~layout.first_WT].any()


def test_the_question_is_never_cut_away_by_evidence(words: Words) -> None:
    prompt = Prompt("what is the refund window", tuple(Evidence("word " * 50) for _ in range(9)))
    layout = arrange(words, prompt, OPTIONS)
    question = words(prompt.question).ids
    for row in layout.ids_WT:
        assert tuple(row[1 : 1 + len(question)]) == question


def test_evidence_beyond_the_windows_is_left_out_whole_and_reported(words: Words) -> None:
    prompt = Prompt("q", tuple(Evidence("word " * 50) for _ in range(9)))
    layout = arrange(words, prompt, OPTIONS)
    assert layout.ids_WT.shape[0] == 4
    assert layout.left_out == (4, 5, 6, 7, 8)
    assert set(layout.evidence_WT.ravel()) == {-1, 0, 1, 2, 3}


def test_a_text_longer_than_a_window_continues_in_the_next_and_loses_nothing(words: Words) -> None:
    text = " ".join(f"w{i}" for i in range(60))
    layout = arrange(words, Prompt("q", (Evidence(text, "Title"),)), OPTIONS)
    assert layout.ids_WT.shape[0] > 1
    at = evidence_tokens(layout, 0)
    covered = "".join(text[layout.starts_WT.flat[i] : layout.ends_WT.flat[i]] for i in at)
    assert covered == text.replace(" ", "")


def test_a_question_of_a_hundred_thousand_characters_keeps_its_two_ends(words: Words) -> None:
    question = "first " + "x " * 50_000
    layout = arrange(words, Prompt(question, (Evidence("Some text."),)), OPTIONS)
    assert layout.ids_WT.shape[1] <= OPTIONS.max_window
    assert layout.ids_WT[0, 1] == words("first").ids[0]


def test_no_evidence_gives_a_window_with_nothing_to_point_at(words: Words) -> None:
    layout = arrange(words, Prompt("anything?"), OPTIONS)
    assert layout.ids_WT.shape[0] == 1
    assert not layout.pointable_WT.any()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=4), st.text(max_size=40))
def test_any_text_can_be_laid_out_and_every_token_lies_inside_its_text(texts: list[str], question: str) -> None:
    layout = arrange(load_words(), Prompt(question, tuple(Evidence(t, t[:9]) for t in texts)), OPTIONS)
    for number, text in enumerate(texts):
        for i in evidence_tokens(layout, number):
            assert 0 <= layout.starts_WT.flat[i] < layout.ends_WT.flat[i] <= len(text)
