"""Citations: that they land where they should for known drafts, and on the document's own text for all drafts."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.agent.answer import Citation
from remask.agent.cite import cite, settled
from remask.agent.evidence import Reading, merge
from remask.agent.support import LexicalScorer
from remask.dllm.draft import Draft, Mark, Prompt, Source, Token
from remask.dllm.scripted import pointing
from remask.retrieval.document import Document, Passage
from remask.retrieval.split import SplitOptions, split

from .shelf import ANNE, LIBRARY, MIRA

WHEN = "When did Mira Holt restore the fresco?"


def reading(*documents: Document, question: str = WHEN) -> Reading:
    return Reading.of(question, [passage for document in documents for passage in split(document)])


def cited(draft: Draft, read: Reading) -> list[tuple[str, str, str]]:
    """(part of the answer, document, quotation) for each citation."""
    return [
        (draft.text[c.answer_start : c.answer_end], c.document_id, c.quote) for c in cite(draft, read, LexicalScorer())
    ]


def test_pointed_tokens_are_cited_sentence_by_sentence() -> None:
    read = reading(*LIBRARY)
    tokens = (
        *pointing(read.prompt, "Mira Holt").tokens,
        Token(10, 16, 0.9, Source(1, ANNE.text.index("chapel"), ANNE.text.index("chapel") + 6)),
    )
    draft = Draft("Mira Holt chapel", tokens)
    assert cited(draft, read) == [
        ("Mira Holt", "mira", "Mira Holt was a painter from Ulm."),
        ("chapel", "anne", "Saint Anne is a chapel near the river."),
    ]


def test_a_token_whose_source_says_something_else_is_not_believed() -> None:
    read = reading(*LIBRARY)
    draft = Draft("It was restored in 1952.", (Token(0, 24, 0.9, Source(2, 0, 8)),))
    assert cited(draft, read) == [
        ("It was restored in 1952.", "mira", "In 1952 she restored the fresco of Saint Anne.")
    ]


@pytest.mark.parametrize("source", [Source(9, 0, 4), Source(-1, 0, 4), Source(0, 900, 904), Source(0, 8, 3)])
def test_a_source_that_points_at_nothing_cites_nothing(source: Source) -> None:
    assert cited(Draft("zzz", (Token(0, 3, 0.9, source),), cited=(source,)), reading(MIRA)) == []


def test_free_text_is_aligned_sentence_by_sentence_and_padding_left_alone() -> None:
    draft = Draft("Mira Holt restored the fresco in 1952. I hope this helps!  The chapel holds 120 people.")
    read = reading(*LIBRARY, question="When was the fresco restored and how many people does the chapel hold?")
    assert cited(draft, read) == [
        ("Mira Holt restored the fresco in 1952.", "mira", "In 1952 she restored the fresco of Saint Anne."),
        ("The chapel holds 120 people.", "anne", "The chapel holds 120 people."),
    ]


def test_a_statement_out_of_two_documents_cites_both() -> None:
    draft = Draft("She restored the fresco in 1952 and the chapel holds 120 people.")
    documents = [document for _, document, _ in cited(draft, reading(*LIBRARY))]
    assert documents == ["mira", "anne"]


@pytest.mark.parametrize("text", ["She restored the fresco in 1953.", "The chapel holds 1,200 people."])
def test_free_text_with_a_wrong_number_has_no_citation(text: str) -> None:
    assert cited(Draft(text), reading(*LIBRARY, question="When did she restore what the chapel holds?")) == []


TWIN = Document(id="twin", title="Guide", text="In 1952 Mira Holt restored the fresco. The fresco is of 1752.")
RESTORED = "Mira Holt restored the fresco in 1952."


def test_a_marker_chooses_between_documents_that_say_the_same() -> None:
    read = reading(TWIN, MIRA)
    assert [d for _, d, _ in cited(Draft(RESTORED), read)] == ["twin"]
    named = Draft(RESTORED, marks=(Mark(len(RESTORED) - 1, 1),))
    assert cited(named, read) == [(RESTORED, "mira", "In 1952 she restored the fresco of Saint Anne.")]


def test_a_wrong_marker_is_corrected_and_a_marker_alone_carries_nothing() -> None:
    wrong = Draft(RESTORED, marks=(Mark(len(RESTORED), 2),))
    assert [d for _, d, _ in cited(wrong, reading(*LIBRARY))] == ["mira"]
    assert cited(Draft("The fresco was sold to Rome.", marks=(Mark(28, 0),)), reading(*LIBRARY)) == []


def test_each_marker_speaks_of_the_statement_before_it() -> None:
    text = "She restored the fresco in 1952. The fresco shows a whale."
    first, second = text.index(" The"), len(text)
    behind = Draft(text, marks=(Mark(first, 0), Mark(second, 1)))
    assert [(part, d) for part, d, _ in cited(behind, reading(MIRA, ANNE))] == [
        ("She restored the fresco in 1952.", "mira"),
        ("The fresco shows a whale.", "anne"),
    ]
    both = reading(TWIN, MIRA, ANNE)
    leading = Draft(text, marks=(Mark(0, 1), Mark(first + 1, 2)))
    assert [d for _, d, _ in cited(leading, both)] == ["mira", "anne"]


def test_a_yes_rests_on_the_evidence_it_names() -> None:
    read = reading(TWIN, MIRA, question="Was the fresco restored in 1952?")
    assert [d for _, d, _ in cited(Draft("yes", kind="yes", marks=(Mark(3, 1),)), read)] == ["mira"]


def test_cited_sentences_are_quoted_exactly_and_in_reading_order() -> None:
    read = reading(*LIBRARY)
    second, first = MIRA.text.index("She died"), MIRA.text.index("In 1952")
    asked = Draft(
        "whatever",
        kind="sentences",
        cited=(Source(1, 0, 5), Source(0, second, second + 3), Source(0, first, first + 3), Source(1, 0, 5)),
    )
    draft = settled(asked, read)
    quotes = [
        "In 1952 she restored the fresco of Saint Anne.",
        "She died in 1990.",
        "Saint Anne is a chapel near the river.",
    ]
    assert draft.text == " ".join(quotes)
    assert cited(draft, read) == [(q, d, q) for q, d in zip(quotes, ("mira", "mira", "anne"), strict=True)]


def test_a_sentence_within_a_cited_passage_is_not_said_twice() -> None:
    read = reading(MIRA)
    draft = settled(Draft("", kind="sentences", cited=(Source(0, 40, 50), Source(0, 0, len(MIRA.text)))), read)
    assert draft.text == MIRA.text


def test_yes_and_no_cite_what_the_model_points_at() -> None:
    read = reading(*LIBRARY, question="Was Mira Holt from Ulm?")
    assert cited(Draft("yes", kind="yes", cited=(Source(0, 0, 9),)), read) == [
        ("yes", "mira", "Mira Holt was a painter from Ulm.")
    ]


def test_yes_and_no_without_a_pointer_cite_what_bears_on_the_question() -> None:
    read = reading(*LIBRARY, question="Is the Blau fed by a spring?")
    assert cited(Draft("yes", kind="yes"), read) == [("yes", "river", "It is fed by a deep blue spring.")]
    read = reading(*LIBRARY, question="Do penguins dance?")
    assert cited(Draft("no", kind="no"), read) == []


def test_grounds_of_the_whole_answer_come_beside_pointed_ones_without_repeating_them() -> None:
    read = reading(*LIBRARY)
    at = MIRA.text.index("In 1952")
    draft = pointing(read.prompt, "1952", cited=(Source(0, at, at + 3), Source(1, 0, 5)))
    assert cited(draft, read) == [
        ("1952", "mira", "In 1952 she restored the fresco of Saint Anne."),
        ("1952", "anne", "Saint Anne is a chapel near the river."),
    ]


def test_support_is_the_mean_of_two_shares_tempered_by_the_models_confidence() -> None:
    read = reading(MIRA)
    draft = pointing(read.prompt, "1952", confidence=0.64)
    (citation,) = cite(draft, read, LexicalScorer())
    # All of "1952"; of mira, holt, restore, fresco all four, two of them in the title: (1 + 1) / 2.
    assert citation.support == pytest.approx(0.8)


def test_the_same_text_in_two_documents_cites_the_one_pointed_at() -> None:
    twins = [Document(id=name, text="The fee is 12 euros.") for name in ("old", "new")]
    read = reading(*twins, question="What is the fee?")
    assert cited(pointing(read.prompt, "12 euros", evidence=1), read) == [("12 euros", "new", "The fee is 12 euros.")]


def test_a_passage_without_sentences_is_cut_into_some() -> None:
    text = "One is first. Two is second."
    read = Reading.of("Which is second?", [Passage("d", text, 100, 100 + len(text))])
    (citation,) = cite(pointing(read.prompt, "second"), read, LexicalScorer())
    assert (citation.start, citation.quote) == (114, "Two is second.")


def test_merging_takes_turns_and_keeps_each_passage_once() -> None:
    a, b, c, d = (Passage(name, name, 0, 1) for name in "abcd")
    assert [p.document_id for p in merge([a, b], [c, a, d], 4)] == ["a", "c", "b", "d"]
    assert [p.document_id for p in merge([a, b], [c, a, d], 3)] == ["a", "c", "b"]


# Properties.

TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(" .\n\r。!?é中文👩‍🚀1952ab")), max_size=120
)
SMALL = SplitOptions(max_words=6, max_chars=40)


@st.composite
def readings(draw: st.DrawFn) -> tuple[list[Document], Reading]:
    texts = draw(st.lists(TEXT, min_size=1, max_size=4))
    documents = [Document(id=f"d{number}", text=text, title=draw(TEXT)) for number, text in enumerate(texts)]
    passages = [passage for document in documents for passage in split(document, SMALL)]
    return documents, Reading.of(draw(TEXT), draw(st.permutations(passages)))


@st.composite
def sources(draw: st.DrawFn, prompt: Prompt) -> Source:
    """Mostly sound, sometimes nonsense."""
    number = draw(st.integers(-1, len(prompt.evidence)))
    start = draw(st.integers(-2, 130))
    return Source(number, start, start + draw(st.integers(-1, 30)))


@st.composite
def drafts(draw: st.DrawFn, prompt: Prompt) -> Draft:
    pieces = draw(st.lists(st.one_of(TEXT, st.sampled_from([e.text for e in prompt.evidence] or [""])), max_size=4))
    text, tokens = "", []
    for piece in pieces:
        source = draw(st.none() | sources(prompt))
        tokens.append(Token(len(text), len(text) + len(piece), draw(st.floats(0, 1)), source))
        text += piece + draw(st.sampled_from(["", " ", "\n"]))
    kind = draw(st.sampled_from(["span", "yes", "no", "sentences", "none"]))
    given_tokens = tuple(tokens) if draw(st.booleans()) else ()
    return Draft(text, given_tokens, kind, cited=tuple(draw(st.lists(sources(prompt), max_size=3))))


def assert_sound(draft: Draft, citations: Sequence[Citation], documents: Sequence[Document], read: Reading) -> None:
    texts = {document.id: document.text for document in documents}
    shown = {passage.id: passage.document_id for passage in read.passages}
    for citation in citations:
        assert texts[citation.document_id][citation.start : citation.end] == citation.quote != ""
        assert shown[citation.passage_id] == citation.document_id
        assert 0 <= citation.answer_start < citation.answer_end <= len(draft.text)
        assert 0 <= citation.support <= 1


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_quotation_is_the_documents_own_text_whatever_the_draft(data: st.DataObject) -> None:
    documents, read = data.draw(readings())
    draft = settled(data.draw(drafts(read.prompt)), read)
    assert_sound(draft, cite(draft, read, LexicalScorer()), documents, read)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_every_sentence_of_a_quoting_answer_has_its_own_citation(data: st.DataObject) -> None:
    documents, read = data.draw(readings())
    picked = tuple(data.draw(st.lists(sources(read.prompt), max_size=4)))
    draft = settled(Draft("", kind="sentences", cited=picked), read)
    citations = cite(draft, read, LexicalScorer())
    assert_sound(draft, citations, documents, read)
    assert " ".join(citation.quote for citation in citations) == draft.text


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_pointed_word_is_always_inside_its_quotation(data: st.DataObject) -> None:
    documents, read = data.draw(readings())
    words = [(n, w) for n, e in enumerate(read.prompt.evidence) for w in e.text.split()]
    if not words:
        return
    number, word = data.draw(st.sampled_from(words))
    draft = pointing(read.prompt, word, evidence=number)
    citations = cite(draft, read, LexicalScorer())
    assert_sound(draft, citations, documents, read)
    assert {c.passage_id for c in citations} == {read.passages[number].id}
    assert all(word in c.quote for c in citations)
