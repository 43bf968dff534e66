"""How well a text carries a statement. Knows words; not passages, drafts or models."""

import re
from functools import lru_cache
from typing import Protocol

from ..retrieval.words import ENGLISH_STOP_WORDS, WordOptions, query_words

_QUESTION_WORDS = (
    "what which who whom whose when where why how does did do is are was were has have had can could would"
)
_WORDS = WordOptions(
    stop_words=(*ENGLISH_STOP_WORDS, *_QUESTION_WORDS.split(), "from", "its", "his", "her"), stem="english"
)
_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"[,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")


class Scorer(Protocol):
    """Anything that says how well `evidence` carries `statement` as an answer to `question`, 0..1."""

    @property
    def name(self) -> str: ...

    def __call__(self, question: str, statement: str, evidence: str) -> float: ...


class LexicalScorer:
    """The mean of two shares: the statement's content words that the evidence has, and the question's.

    Words are compared without case and by stem, stop words don't count. Cheap and easy to foresee, but blind to
    paraphrase and to negation. An empty statement (yes, no) is judged by the question alone.

    >>> LexicalScorer()("Who painted the fresco?", "Mira Holt", "Mira Holt restored the fresco.")
    0.75
    """

    name = "lexical"

    def __call__(self, question: str, statement: str, evidence: str) -> float:
        said, asked, known = content_words(statement), topic_words(question), content_words(evidence)
        shares = [len(words & known) / len(words) for words in (said, asked) if words]
        return sum(shares) / len(shares) if shares else 0.0


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; all words where none does ("The Who").

    >>> sorted(content_words("When were the towers built?"))
    ['built', 'tower']
    """
    return topic_words(text) or frozenset(query_words(text))


@lru_cache(maxsize=4096)
def topic_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning, which a question may be without.

    >>> topic_words("What is it?")
    frozenset()
    """
    return frozenset(query_words(text, _WORDS))


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, without separators of thousands.

    >>> sorted(numbers("1,234 m in 1994, 3.5 %"))
    ['1234', '1994', '3.5']
    """
    return frozenset(_THOUSANDS.sub("", found) for found in _NUMBER.findall(text))
