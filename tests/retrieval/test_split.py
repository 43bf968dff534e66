"""Splitting: every passage and sentence at its exact place, whatever the text."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from remask.retrieval.blocks import blocks
from remask.retrieval.document import Document, Passage, Span
from remask.retrieval.sentences import sentences
from remask.retrieval.split import SplitOptions, passage_from_sentences, split


def texts(text: str, **options: int) -> list[str]:
    return [passage.text for passage in split(Document(id="d", text=text), SplitOptions(**options))]


def sentence_texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


# Texts of every kind: single characters, the parts that rules look at, whole alphabets

PARTS = (
    *("Dr. ", "e.g. ", "J. K. ", "3.14", "U.S. ", "...", "…", '."', "?! ", "1. ", "- ", "* ", "| a | b |", "\tcell"),
    *(
        "# ",
        "## Head\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\u2028",
        "\f",
        "```\n",
        "\n===\n",
        "\n---\n",
        "   ",
        "\u3000",
        "\x1c",
    ),
    *(
        "好。",
        "是！？",
        "नमस्ते।",
        "한국어. ",
        "日本",
        "العربية؟ ",
        "e\u0301",
        "👩‍👩‍👧",
        "🇩🇪🇫🇷",
        "👍🏽",
        "\u200d",
        "\ufeff",
    ),
    *("word ", "Word. ", "longunbrokenword" * 4, "The end. ", "It", "[1]", "」", ")"),
)
ANY_TEXT = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(PARTS), max_size=40).map("".join),
    st.lists(st.one_of(st.sampled_from(PARTS), st.characters()), max_size=40).map("".join),
)
ANY_OPTIONS = st.builds(
    SplitOptions,
    max_words=st.integers(1, 30),
    max_chars=st.integers(1, 80),
    overlap_sentences=st.integers(0, 4),
)


@given(ANY_TEXT, ANY_OPTIONS)
@example("ab ab ab ab", SplitOptions(max_words=1))
@example("a\r\nb\r\n\r\nc", SplitOptions())
@example("", SplitOptions())
def test_passages_and_sentences_are_exact_ordered_and_complete(text: str, options: SplitOptions) -> None:
    document = Document(id="d", text=text, title="T", metadata={"n": 1})
    passages = split(document, options)
    covered = bytearray(len(text))
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
        assert (passage.document_id, passage.title, passage.metadata) == ("d", "T", {"n": 1})
        assert len(passage.text) <= options.max_chars
        assert_sentences_tile(text, passage)
        covered[passage.start : passage.end] = b"\1" * len(passage.text)
    starts = [passage.start for passage in passages]
    assert starts == sorted(set(starts))
    assert all(seen or character.isspace() for seen, character in zip(covered, text, strict=True))


def assert_sentences_tile(text: str, passage: Passage) -> None:
    at = passage.start
    for span in passage.sentences:
        assert at <= span.start < span.end <= passage.end
        assert not text[at : span.start].strip()
        content = text[span.start : span.end]
        assert content == content.strip()
        at = span.end
    assert passage.sentences
    assert at == passage.end


@given(ANY_TEXT)
def test_blocks_and_sentences_hold_every_character_that_is_not_blank(text: str) -> None:
    expected = "".join(text.split())
    assert "".join("".join(text[b.start : b.end].split()) for b in blocks(text)) == expected
    assert "".join("".join(text[s.start : s.end].split()) for s in sentences(text)) == expected


@given(ANY_TEXT, ANY_OPTIONS)
def test_overlap_repeats_no_more_sentences_than_asked_for(text: str, options: SplitOptions) -> None:
    passages = split(Document(id="d", text=text), options)
    for before, after in pairwise(passages):
        assert len(set(before.sentences) & set(after.sentences)) <= options.overlap_sentences
        assert set(after.sentences) - set(before.sentences)


# Passages


def test_repeated_text_gets_increasing_starts() -> None:
    passages = split(Document(id="d", text="ab ab ab ab"), SplitOptions(max_words=1))
    assert [(passage.start, passage.end) for passage in passages] == [(0, 2), (3, 5), (6, 8), (9, 11)]


@pytest.mark.parametrize("text", ["", " ", "\r\n\t\u3000\u2028"])
def test_a_blank_document_has_no_passages(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize("text", ["x", "字", "?!", "…", "😀"])
def test_one_character_or_only_punctuation_is_a_passage(text: str) -> None:
    assert texts(f" {text} ") == [text]


def test_a_passage_never_crosses_into_the_next_section() -> None:
    assert texts("# One\nFirst.\n# Two\nSecond.") == ["# One\nFirst.", "# Two\nSecond."]


def test_headings_stay_with_what_follows_them() -> None:
    assert texts("Intro.\n\n# One\n\n## Two\n\nBody.") == ["Intro.", "# One\n\n## Two\n\nBody."]
    long_body = "Some words here. " * 4
    assert texts(f"# One\n\n{long_body}", max_words=4)[0] == "# One\n\nSome words here."


def test_a_heading_inside_a_code_fence_is_code() -> None:
    assert texts("```\n# no heading\nx\n```\nend") == ["```\n# no heading\nx\n```\nend"]


def test_paragraphs_are_preferred_as_boundaries() -> None:
    text = "One two three. Four five six.\n\nSeven eight nine. Ten eleven twelve."
    assert texts(text, max_words=9) == ["One two three. Four five six.", "Seven eight nine. Ten eleven twelve."]


def test_a_long_text_has_no_scrap_at_its_end() -> None:
    sizes = [len(text.split()) for text in texts("One two three four five six. " * 20)]
    assert sizes == [60, 60]


def test_list_items_and_table_rows_are_not_cut_while_they_fit() -> None:
    assert texts("- one two\n- three four\n- five six", max_words=4) == ["- one two\n- three four", "- five six"]
    assert texts("| a | b |\n| c | d |\n| e | f |", max_words=2) == ["| a | b |", "| c | d |", "| e | f |"]


def test_overlap_repeats_the_last_sentences() -> None:
    assert texts("One two. Three four. Five six.", max_words=4, overlap_sentences=1) == [
        "One two. Three four.",
        "Three four. Five six.",
    ]


def test_a_text_without_stops_is_cut_between_words() -> None:
    assert texts("one two three four five", max_words=2) == ["one two", "three four", "five"]


def test_a_text_without_blanks_is_cut_between_characters() -> None:
    assert texts("x" * 1_500) == ["x" * 700, "x" * 700, "x" * 100]


def test_an_ideograph_counts_as_a_word() -> None:
    assert [len(text) for text in texts("字" * 250)] == [110, 110, 30]


@pytest.mark.parametrize("character", ["e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "क्षि", "\ud83d\ude00"])
def test_a_cut_never_falls_inside_what_a_reader_sees_as_one_character(character: str) -> None:
    passages = split(Document.model_construct(id="d", text=character * 40), SplitOptions(max_chars=13))
    assert len(passages) > 2
    assert all(len(passage.text) % len(character) == 0 for passage in passages)


def test_a_character_with_a_thousand_accents_is_cut_all_the_same() -> None:
    passages = texts("e" + "\u0301" * 1_000, max_chars=100)
    assert all(len(text) <= 100 for text in passages)
    assert sum(map(len, passages)) == 1_001


@pytest.mark.parametrize(
    "character", ["x", "x ", "字", "好。", ". ", "\n", "# ", '."', "e\u0301", "🇩🇪", "- a\n", "U.S. "]
)
def test_a_large_text_is_split_whatever_it_repeats(character: str) -> None:
    text = character * (300_000 // len(character))
    passages = split(Document(id="d", text=text))
    assert sum(len("".join(passage.text.split())) for passage in passages) == len("".join(text.split()))


@pytest.mark.parametrize("options", [{"max_words": 0}, {"max_chars": 0}, {"overlap_sentences": -1}])
def test_options_without_sense_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="limits must be at least 1"):
        SplitOptions(**options)


# Given sentences


def test_a_passage_from_sentences_keeps_their_numbers() -> None:
    passage = passage_from_sentences("d", "T", ["One. ", " ", " Two.", "", "Three."])
    assert passage.text == "One.   Two.Three."
    assert (passage.id, passage.title) == ("d#0-17", "T")
    assert [passage.text[s.start : s.end] for s in passage.sentences] == ["One.", "", "Two.", "", "Three."]


@given(st.lists(st.text(max_size=10), max_size=8))
def test_given_sentences_are_found_where_they_stand(given_sentences: list[str]) -> None:
    passage = passage_from_sentences("d", "", given_sentences)
    assert passage.text == "".join(given_sentences)
    assert [passage.text[s.start : s.end] for s in passage.sentences] == [s.strip() for s in given_sentences]


def test_no_sentences_make_an_empty_passage() -> None:
    assert passage_from_sentences("d", "T", []) == Passage("d", "", 0, 0, title="T")


# Sentences


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones.|They left.",
        "See e.g. the U.S. President, i.e. him.|He lives in the U.S.|The end.",
        "J. K. Rowling wrote it.|George R. R. Martin did not.",
        "Pi is 3.14 and e is 2.718.|Both are irrational.",
        "Wait... what?|Yes…|No.",
        'He said "Stop!" and left.|"Why?" she asked.|"I don’t know."|(Nobody does.)|Fine.',
        "It rose 5% in Jan. 2024, see Fig. 3 and p. 12.|No. 7 won.|Did it?|No.|Well.",
        "Acme Inc. and Foo Ltd. merged.|It was Acme Inc.|The name stayed.",
        "Brown v. Board of Education.|Next.",
        "Visit example.com.|Or mail a.b@c.org today!|iPhones sell.",
        "He left.[1]|She stayed.[12][13]|End.",
        "今天好。|你呢？|很好！|「是。」|完",
        "नमस्ते।|कैसे हैं？|ठीक॥",
        "Hello!|你好。|Bye.",
        "Z.B. Hunde.|D.h. Katzen.|Ende.",
        "Great!|😀 Really.|Yes",
        "Yahoo! is old.|Love?|Yes. . . never.",
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str) -> None:
    expected = text.split("|")
    glue = "" if text[0] >= "\u0900" else " "
    assert sentence_texts(glue.join(expected)) == expected


def test_lines_without_stops_are_sentences() -> None:
    assert sentence_texts("Apples\nPears\r\n\r\nPlums") == ["Apples", "Pears", "Plums"]


def test_numbered_list_items_keep_their_numbers() -> None:
    assert sentence_texts("1. Turn it off. Wait.\n2. Turn it on.\na) Done") == [
        "1. Turn it off.",
        "Wait.",
        "2. Turn it on.",
        "a) Done",
    ]


def test_hard_wrapped_lines_are_one_sentence() -> None:
    lines = [
        "The quick brown fox jumps over the lazy dog near the",
        "river bank, and an old man by the name of Dr.",
        "Smith watches it from a distance. Then",
        "all of them sleep.",
    ]
    first, second = "\n".join(lines).split(" Then")
    assert sentence_texts("\n".join(lines)) == [first, "Then" + second]


def test_a_heading_is_one_sentence() -> None:
    assert sentence_texts("# What? Why!\nBecause.") == ["# What? Why!", "Because."]


def test_spans_count_characters_of_the_document() -> None:
    passages = split(Document(id="d", text="😀 One.\r\n\r\n  Two."), SplitOptions(max_words=1))
    assert [passage.sentences for passage in passages] == [(Span(0, 6),), (Span(12, 16),)]
