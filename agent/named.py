"""The names in a question, and whether a text has them. Knows words only, and only scripts that have capitals.

A question about Mongolia is not answered by a text that never speaks of it, however sure a model is. Measured on questions
that their own paragraphs answer: all names of a question were absent in 0 of 250 of HotpotQA's, in 4 of 850 of SQuAD's, which
were misspelt, joined with a hyphen, or adjectives of a country.
"""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w[\w'’-]*")
_ENDS_A_SENTENCE = (".", "?", "!", ":", "“", '"', "«")
_SHORTEST = 4
_INFLECTED = 3
_MOST_CAPITALS = 0.7


def names(question: str) -> tuple[str, ...]:
    """Capitalised words of four letters or more that don't begin a sentence. A question in capitals has none to tell.

    >>> names("Is Lake Orrin's outlet in Velm?")
    ('Lake', 'Orrin', 'Velm')
    >>> names("HOW DEEP IS LAKE ORRIN?")
    ()
    """
    words = list(_WORD.finditer(question))
    capital = [word for word in words if word.group()[0].isupper()]
    if len(capital) > max(2, _MOST_CAPITALS * len(words)):
        return ()
    inside = (word for word in capital if _inside(question[: word.start()].rstrip()))
    found = (re.sub(r"['’]s?$", "", word.group()) for word in inside)
    return tuple(name for name in found if len(name) >= _SHORTEST)


def unheard(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The question's names, where none of them is in any of the texts; none where one is. An ending may differ, as between
    a country and its people.

    >>> unheard("What is the capital of Mongolia?", ["Fees are taken on Monday."])
    ('Mongolia',)
    >>> unheard("What do Mongolia and Peru export?", ["Mongolian cashmere is exported."])
    ()
    """
    named = names(question)
    everything = " ".join(texts).casefold()
    return () if any(_stem(name) in everything for name in named) else named


def _inside(before: str) -> bool:
    return bool(before) and not before.endswith(_ENDS_A_SENTENCE)


def _stem(name: str) -> str:
    return name.casefold()[: max(_SHORTEST, len(name) - _INFLECTED)]
