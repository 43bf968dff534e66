import pytest
from remask.retrieval.words import ENGLISH_STOP_WORDS, WordOptions, passage_words, query_words

WHOLE = WordOptions(stem="")


def test_letters_are_compared_after_compatibility_and_case_folding():
    assert query_words("ＦＵＬＬ ﬁne Straße ǅ №", WHOLE) == ["full", "fine", "strasse", "dž", "no"]


def test_a_one_letter_word_is_a_word():
    assert query_words("Vitamin C, plan B", WHOLE) == ["vitamin", "c", "plan", "b"]


def test_apostrophes_hyphens_and_underscores_part_words():
    assert query_words("King's O'Neill e-mail snake_case", WHOLE) == [
        *("king", "s", "o", "neill", "e", "mail", "snake", "case")
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京は晴れ", ["東京", "京は", "は晴", "晴れ"]),
        ("ﾄｳｷｮｳ", ["トウ", "ウキ", "キョ", "ョウ"]),  # half-width kana
        ("대한민국", ["대한", "한민", "민국"]),
        ("雨", ["雨"]),
        ("iPhone15を買う", ["iphone15", "を買", "買う"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("人々", ["人々"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs(text: str, words: list[str]):
    assert query_words(text, WHOLE) == words


def test_a_passage_also_holds_the_single_characters_of_its_pairs():
    assert passage_words("大雨 and rain", WHOLE) == ["大", "雨", "大雨", "and", "rain"]


@pytest.mark.parametrize("word", ["हिन्दी", "ไทย", "שָׁלוֹם", "বাংলা", "naïve", "école"])
def test_combining_marks_do_not_cut_a_word(word: str):
    assert len(query_words(word, WHOLE)) == 1


def test_composed_and_decomposed_accents_are_the_same_word():
    assert query_words("cafe\u0301", WHOLE) == query_words("caf\u00e9", WHOLE)


@pytest.mark.parametrize("text", ["", " \n\t", "?!… — “”", "👩‍👩‍👧 🎉"])
def test_a_text_without_letters_has_no_words(text: str):
    assert query_words(text) == passage_words(text) == []


def test_stop_words_are_left_out_whatever_their_case():
    options = WordOptions(stem="", stop_words=ENGLISH_STOP_WORDS)
    assert query_words("The cat AND the hat", options) == ["cat", "hat"]
    assert len(ENGLISH_STOP_WORDS) == len(set(ENGLISH_STOP_WORDS)) == 33


def test_stemming_joins_forms_of_a_word_and_can_be_another_language_or_none():
    assert query_words("Refunds refunded refunding") == ["refund"] * 3
    assert query_words("Häuser", WordOptions(stem="german")) == query_words("Hauses", WordOptions(stem="german"))
    assert query_words("Refunds", WHOLE) == ["refunds"]


def test_an_unknown_language_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'klingon' is no Snowball language.*english"):
        WordOptions(stem="klingon")
