"""Texts made to confuse a reader, out of real ones: near-duplicates, and copies that say something else. Pure functions."""

import re
from collections.abc import Sequence
from random import Random

from .question import Paragraph, Question

DROPPED = 0.1
"""The share of a near-duplicate's words that are left out, the first and the last of a sentence never."""
COPY = " (copy)"
"""Behind the title of what is made here, so that citing it is not taken for citing the original."""


def near_duplicate(paragraph: Paragraph, number: int, *, seed: int = 0) -> Paragraph:
    """The paragraph's sentences in another order, a word here and there left out. Other numbers, other orders."""
    random = Random(f"{seed}/{paragraph.title}/{number}")
    sentences = [_thinned(sentence, random) for sentence in paragraph.sentences]
    random.shuffle(sentences)
    first, *rest = [sentence.strip() for sentence in sentences if sentence.strip()] or [""]
    return Paragraph(paragraph.title + COPY, (first, *(f" {sentence}" for sentence in rest)))


def contradiction(paragraph: Paragraph, answers: Sequence[str], false: str) -> Paragraph | None:
    """A copy that says `false` wherever the paragraph says one of the answers; None where it says none of them."""
    spoken = sorted((answer for answer in answers if kind_of(answer) != "fixed"), key=len, reverse=True)
    if not spoken:
        return None
    said = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, spoken)) + r")(?!\w)", re.IGNORECASE)
    sentences = tuple(said.sub(lambda _: false, sentence) for sentence in paragraph.sentences)
    return Paragraph(paragraph.title + COPY, sentences) if sentences != paragraph.sentences else None


def false_answer(question: Question, answers: Sequence[str], *, seed: int = 0) -> str:
    """One of other questions' answers, of the same kind as this one's, that none of its marked paragraphs mentions. Empty
    where its answer is none that could be swapped, or stands in no marked paragraph."""
    gold = [p for p in question.paragraphs if p.title in question.gold_titles]
    text = " ".join(sentence for paragraph in gold for sentence in paragraph.sentences).casefold()
    if not any(contradiction(paragraph, question.answers, "\N{REPLACEMENT CHARACTER}") for paragraph in gold):
        return ""
    kinds = {kind_of(answer) for answer in question.answers}
    fit = sorted({one for one in answers if kind_of(one) in kinds - {"fixed"} and one.casefold() not in text})
    return Random(f"{seed}/{question.id}").choice(fit) if fit else ""


def kind_of(answer: str) -> str:
    """
    >>> [kind_of(one) for one in ("yes", "1952", "12 March 1952", "3,500", "Mira Holt", "a blue whale")]
    ['fixed', 'year', 'date', 'number', 'name', 'words']
    """
    said = answer.strip()
    if said.lower() in ("yes", "no", "noanswer", ""):
        return "fixed"
    if re.fullmatch(r"1\d{3}|20\d{2}", said):
        return "year"
    if re.search(r"\b(1\d{3}|20\d{2})\b", said):
        return "date"
    if re.search(r"\d", said):
        return "number"
    return "name" if said[0].isupper() else "words"


def _thinned(sentence: str, random: Random) -> str:
    words = sentence.split()
    kept = [w for n, w in enumerate(words) if n in (0, len(words) - 1) or random.random() >= DROPPED]
    return " ".join(kept)
