"""Text in, index words out: the same rule for passages and questions. Knows nothing of scores.

Letters are compared after NFKC and case folding. Scripts written without spaces, and Korean, whose particles glue to
nouns, are cut into overlapping pairs of characters. One-letter words stay: "vitamin C" is found by "C".
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from typing import Any

ENGLISH_STOP_WORDS = (
    *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of"),
    *(
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ),
)
"""Lucene's list of 33 words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOptions:
    """How text becomes words. An index remembers these: a question must be cut as its passages were."""

    stop_words: tuple[str, ...] = ()
    """Words left out, compared after case folding. None by default: "The Who" is a band."""

    stem: str = "english"
    """A Snowball language, or "" to keep words whole. What stemming gains is in the table of `fuse`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop_words", tuple(self.stop_words))
        if self.stem and self.stem not in _stemmers().algorithms():
            known = ", ".join(_stemmers().algorithms())
            raise ValueError(f"{self.stem!r} is no Snowball language. Use one of: {known}")


def query_words(text: str, options: WordOptions | None = None) -> list[str]:
    """The words of a question, in order, repeats kept.

    >>> query_words("Vitamin C, ﬁne CAFÉS")
    ['vitamin', 'c', 'fine', 'café']
    >>> query_words("東京は雨"), query_words("雨")
    (['東京', '京は', 'は雨'], ['雨'])
    """
    return _words(text, options or WordOptions(), single_characters=False)


def passage_words(text: str, options: WordOptions | None = None) -> list[str]:
    """The words of a passage: a question's, and each character of a pair, so that a question of one character matches.

    >>> passage_words("大雨 in 京都")
    ['大', '雨', '大雨', 'in', '京', '都', '京都']
    """
    return _words(text, options or WordOptions(), single_characters=True)


def _words(text: str, options: WordOptions, *, single_characters: bool) -> list[str]:
    stop_words = _folded(options.stop_words)
    found: list[str] = []
    for word, unspaced in _runs(text):
        if unspaced:
            found += _pairs(word, single_characters)
        elif word not in stop_words:
            found.append(_stemmed(options.stem, word) if options.stem else word)
    return found


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    if text.isascii():
        for word in _ASCII_WORD.findall(text.lower()):
            yield word, False
        return
    for match in _word_pattern().finditer(_fold(text)):
        yield match.group(), match.lastgroup == "unspaced"


def _pairs(run: str, single_characters: bool) -> list[str]:
    if len(run) == 1:
        return [run]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*run, *pairs] if single_characters else pairs


def _fold(text: str) -> str:
    # Case folding can undo the normal form ("ǰ"), hence the second pass: Unicode's NFKC_Casefold.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=16)
def _folded(stop_words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_fold(word) for word in stop_words)


_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Han with its extensions and marks of repetition, kana, Bopomofo, Hangul. NFKC has already widened half-width kana.
_UNSPACED = "々〆〇ぁ-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯㇰ-ㇿ㐀-䶿一-鿿가-힣ᄀ-ᇿ豈-龎\U00020000-\U0003ffff"


@cache
def _word_pattern() -> re.Pattern[str]:
    # Python's \w leaves out combining marks, which would cut Hindi, Thai or pointed Hebrew words apart.
    marks = "".join(_character_ranges("Mn", "Mc"))
    return re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])[^\W_][{marks}]*)+")


def _character_ranges(*categories: str) -> Iterator[str]:
    start: int | None = None
    for code in range(0x300, 0x20000):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)) in categories
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            yield f"{chr(start)}-{chr(code - 1)}"
            start = None


_stemming = Lock()


@lru_cache(maxsize=100_000)
def _stemmed(language: str, word: str) -> str:
    with _stemming:  # a Snowball stemmer keeps its word in itself
        return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    return _stemmers().stemmer(language)


def _stemmers() -> Any:
    """Of PyStemmer where it is installed, as it is with remask: words of 16,837 paragraphs in 7 instead of 17 seconds."""
    import snowballstemmer  # type: ignore[import-untyped]

    return snowballstemmer
