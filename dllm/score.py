"""Exact match and F1 of short answers, by the rules of the SQuAD and HotpotQA evaluation scripts."""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable

_PUNCTUATION = set(string.punctuation)
_FIXED = ("yes", "no", "noanswer")


def normalize(text: str) -> str:
    """Lower case, without punctuation, articles and extra blanks.

    >>> normalize("The  Eiffel-Tower, Paris")
    'eiffeltower paris'
    """
    bare = "".join(c for c in text.lower() if c not in _PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def exact_match(prediction: str, gold: str) -> float:
    return float(normalize(prediction) == normalize(gold))


def f1(prediction: str, gold: str) -> float:
    """Bag-of-words F1. HotpotQA's rule: a yes, no or noanswer on either side counts only when both sides are equal.

    >>> round(f1("in Paris France", "Paris"), 2)
    0.5
    >>> f1("yes", "yes it was")
    0.0
    """
    said, wanted = normalize(prediction), normalize(gold)
    if said != wanted and (said in _FIXED or wanted in _FIXED):
        return 0.0
    said_words, wanted_words = said.split(), wanted.split()
    if not said_words or not wanted_words:
        return float(said_words == wanted_words)
    shared = sum((Counter(said_words) & Counter(wanted_words)).values())
    return 2 * shared / (len(said_words) + len(wanted_words))


def best(metric: Callable[[str, str], float], prediction: str, golds: Iterable[str]) -> float:
    """A metric's best value over several right answers; no right answer means the right prediction is empty."""
    golds = list(golds)
    return max((metric(prediction, g) for g in golds), default=float(not normalize(prediction)))
