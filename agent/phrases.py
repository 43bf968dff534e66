"""Phrases that a question is recognised by. Words only: no model, no language beyond the words given.

    "speak to|with a|the person"   one of several words
    "my * hurts"                   up to four words between
    "overdos~"                     any word that begins so
    "~able"                        any word that ends so

Case, punctuation and the shape of an apostrophe don't count; "do not" and "don't" are different words.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[\w']+")
_GAP = 4


def matches(phrases: Iterable[str], text: str) -> bool:
    """Whether any phrase is in the text.

    >>> matches(["chest * hurts|aches"], "My chest really hurts!"), matches(["chest pain"], "chest of drawers")
    (True, False)
    """
    words = " ".join(_WORD.findall(text.casefold().replace("’", "'")))
    return any(_pattern(phrase).search(words) for phrase in phrases)


@lru_cache(maxsize=1024)
def _pattern(phrase: str) -> re.Pattern[str]:
    """Over words with single blanks between them."""
    parts = [_part(word) for word in phrase.casefold().replace("’", "'").split()]
    return re.compile(r"(?<![\w'])" + "".join(parts).removesuffix(" ") + r"(?![\w'])")


def _part(word: str) -> str:
    if word == "*":
        return rf"(?:[\w']+ ){{0,{_GAP}}}"
    return rf"(?:{'|'.join(_word(one) for one in word.split('|'))}) "


def _word(word: str) -> str:
    return "".join(r"[\w']*" if piece == "~" else re.escape(piece) for piece in re.split("(~)", word))
