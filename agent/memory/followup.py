"""What makes a question lean on the one before it, and how it reads in full. Rules of English; knows no conversation.

A question that stands by itself matches no rule and is left as it is.
"""

import re
from dataclasses import dataclass

from ..answer import Record
from .mentions import AUXILIARIES, CONNECTIVES, PREPOSITIONS, PRONOUNS, QUESTION_WORDS, WORD, Mention, is_name, mentions
from .mentions import words as listed

_OPENING = re.compile(rf"(?:(?:{'|'.join(sorted(CONNECTIVES))})\b[\s,]*)+", re.IGNORECASE)
_ABOUT = re.compile(r"(?:what|how) about\s+", re.IGNORECASE)
_CLAUSE = re.compile(
    r"\b(?:and|or|but|when|if|before|after|because|while|that|which|who|where|since|until|so|whether)\b", re.IGNORECASE
)
_PERSON = listed("he she him her his")
_POSSESSIVE = listed("its his their")
_CONTRACTION = re.compile(r"\b(it|he|she|they|that)['’](?:s|re)\b", re.IGNORECASE)
_FULL = {"it": "it is", "he": "he is", "she": "she is", "they": "they are", "that": "that is"}
_LEADING = re.compile(
    r"\b(?:(?P<there>(?<!is )(?<!are )(?<!was )(?<!were )there)(?=\s*[?.!]*$)"
    r"|(?P<noun>(?:this|these|those)\s+[^\W\d_]+)|(?P<that>that\s+[^\W\d_]+)"
    r"|(?P<bare>(?:this|that|these|those)(?=\s*[?.!]*$))|(?P<it>it|its|he|she|him|her|his|they|them|their))\b",
    re.IGNORECASE,
)
# "It" that stands for nothing: how long does it take to ..., is it possible to ...
_EMPTY_IT = re.compile(
    r"\b(?:takes?|took|possible|necessary|allowed|permitted|true|rain(?:s|ing)?|late|worth|mean|means)\b", re.I
)
_RELATIVE = re.compile(r"\s+(?:who|that|which)\b", re.IGNORECASE)
_ASKED_OF = re.compile(r"(?:which|what|how many)\s+(?P<noun>[^\W\d_]+)", re.IGNORECASE)
_MOST_BARE_WORDS = 3
_MOST_FRAGMENT_WORDS = 8


class Rewritten(Record):
    """A question as it is asked of the documents. `because` is empty where it is the question as typed."""

    question: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Pronoun:
    """Characters `start` to `end` of a question that stand for something named before."""

    text: str
    start: int
    end: int
    person: bool = False
    anything: bool = False
    """Whether it may be a person as well as a thing ("they")."""


def without_opening(question: str) -> str:
    """The question without a leading "and", its first letter large.

    >>> without_opening("and who founded it?")
    'Who founded it?'
    """
    match = _OPENING.match(question)
    rest = question[match.end() :] if match else question
    return rest[:1].upper() + rest[1:] if rest.strip(" ?.!") else question


def opens_as_followup(question: str) -> bool:
    return without_opening(question) != question and _OPENING.match(question) is not None


def fragment(question: str) -> str:
    """What a question without a verb asks about instead; empty where it is a whole question.

    >>> fragment("And what about the T-30?"), fragment("and in 2018?"), fragment("And who runs it?")
    ('the T-30', 'in 2018', '')
    """
    rest = question[match.end() :] if (match := _OPENING.match(question)) else question
    about = _ABOUT.match(rest)
    said = (rest[about.end() :] if about else rest).strip().rstrip("?.! ")
    words = [word.group().casefold() for word in WORD.finditer(said)]
    if not words or len(words) > _MOST_FRAGMENT_WORDS or not (about or match):
        return ""
    if set(words) & (QUESTION_WORDS | AUXILIARIES) or set(words) <= PRONOUNS:
        return ""
    return said


def bare(question: str) -> str:
    """The question word of a question that is little else ("When exactly?"), small; empty for any other.

    >>> bare("And why?"), bare("Where exactly?"), bare("Who founded it?")
    ('why', 'where', '')
    """
    rest = question[match.end() :] if (match := _OPENING.match(question)) else question
    words = [word.group().casefold() for word in WORD.finditer(rest)]
    alone = set(words[1:]) <= {"exactly", "not", "else", "so", "come", "then"}
    return words[0] if words and len(words) <= _MOST_BARE_WORDS and words[0] in QUESTION_WORDS and alone else ""


def pronoun(question: str) -> Pronoun | None:
    """The first word that stands for something the question itself does not name.

    >>> pronoun("When did it go on sale?").text, pronoun("Where does the company that made it sit?").text
    ('it', 'it')
    >>> pronoun("Who made the buoy and where is it sold?"), pronoun("How long does it take to charge?")
    (None, None)
    """
    for match in _LEADING.finditer(question):
        word = match.group().casefold()
        if match["it"] and word == "it" and _EMPTY_IT.search(question, match.end(), match.end() + 24):
            continue
        if match["that"] and not _points_back(question, match):
            continue
        if _named_before(question, match.start()):
            return None
        return Pronoun(match.group(), *match.span(), person=word in _PERSON, anything=word in ("they", "them", "their"))
    return None


def spelled_out(question: str) -> str:
    """Without contractions of a pronoun.

    >>> spelled_out("Where's the lab that it's in?")
    "Where's the lab that it is in?"
    """
    return _CONTRACTION.sub(lambda m: _matched_case(m.group(1), _FULL[m.group(1).casefold()]), question)


def substituted(question: str, found: Pronoun, referent: str) -> str:
    """
    >>> q = "Who founded it, and what is its motto?"
    >>> substituted(q, pronoun(q), "Stocznia Gryf")
    'Who founded Stocznia Gryf, and what is its motto?'
    """
    word, rest = found.text.casefold(), question[found.end :]
    following = WORD.match(rest.lstrip())
    # "Her" before a word that can't begin the rest of a sentence is possessive: "her office", but "with her in 2018".
    possessive = word in _POSSESSIVE or (
        word == "her" and following and following.group().casefold() not in PREPOSITIONS | AUXILIARIES
    )
    if word == "there":
        referent = f"in {referent}"
    elif possessive:
        referent = f"{referent}'" if referent.endswith("s") else f"{referent}'s"
    if found.start == 0:
        referent = referent[:1].upper() + referent[1:]
    return question[: found.start] + referent + rest


def replaced(previous: str, said: str) -> str:
    """The previous question about what a fragment names instead: in place of what is most like it.

    >>> replaced("How long does the battery of the T-40 last?", "the T-30")
    'How long does the battery of the T-30 last?'
    >>> replaced("How many people worked in Halden in 2018?", "in Tromsø")
    'How many people worked in Tromsø in 2018?'
    >>> replaced("Who led the company?", "in 1994")
    'Who led the company in 1994?'
    """
    new = mentions(said)
    kind = _shape(new[0]) if new else "phrase"
    before = _preposition(said)
    old = [m for m in mentions(previous) if _shape(m) == kind or (not before and kind != "number" and not m.number)]
    if before:
        old = [m for m in old if previous[: m.start].rstrip().casefold().endswith(f" {before}")]
    if not old:
        return f"{previous.rstrip('?.! ')} {said}?"
    chosen = max(old, key=lambda m: (_shape(m) == kind, _shared(m.text, said), m.start))
    insert = said[len(before) :].strip() if before else _articled(chosen.text, said)
    return previous[: chosen.start] + insert + previous[chosen.end :]


def reworded(previous: str, answer: str, word: str) -> str:
    """The previous question with another question word.

    >>> reworded("When was Halden founded?", "1987", "where"), reworded("Who made the B-7?", "Henrik Dahl", "when")
    ('Where was Halden founded?', 'When was it that Henrik Dahl made the B-7?')
    """
    words = list(WORD.finditer(previous))
    asked = word.capitalize()
    if words and words[0].group().casefold() in QUESTION_WORDS and len(words) > 1:
        rest = previous[words[0].end() :].lstrip()
        if words[1].group().casefold() in AUXILIARIES:
            return f"{asked} {rest}"
        if answer and words[0].group().casefold() in ("who", "what") and len(answer) < 80:
            return f"{asked} was it that {answer} {rest}"
    return f"{asked}? {previous}"


def _points_back(question: str, match: re.Match[str]) -> bool:
    """Whether "that ..." is a thing ("of that company") rather than the start of a clause ("the gauge that measures")."""
    before = [word.group().casefold() for word in WORD.finditer(question, 0, match.start())]
    return not before or before[-1] in PREPOSITIONS | AUXILIARIES | CONNECTIVES


def _named_before(question: str, at: int) -> bool:
    """Whether something named earlier in the question, in a clause of its own, is what a pronoun at `at` means."""
    ends = [mention.end for mention in mentions(question) if mention.end <= at and not mention.number]
    asked_of = _ASKED_OF.match(question)
    if asked_of and asked_of["noun"].casefold() not in AUXILIARIES:
        ends.append(asked_of.end())
    return any(_CLAUSE.search(question, _past_relative(question, end), at) for end in ends)


def _past_relative(question: str, end: int) -> int:
    """Behind "who" or "that" where it only goes on about what was named: in "the firm that made it" it isn't the firm."""
    relative = _RELATIVE.match(question, end)
    return relative.end() if relative else end


def _shape(mention: Mention) -> str:
    if mention.number:
        return "number"
    return "name" if mention.name else "phrase"


def _preposition(said: str) -> str:
    first = said.split(maxsplit=1)[0]
    return first.casefold() if first.casefold() in PREPOSITIONS else ""


def _shared(one: str, other: str) -> int:
    """Words that both have, and whether both or neither hold a digit, as codes do."""
    words = {w.group().casefold() for w in WORD.finditer(one)} & {w.group().casefold() for w in WORD.finditer(other)}
    digits = any(c.isdigit() for c in one) == any(c.isdigit() for c in other)
    return 2 * len(words - {"the", "a", "an"}) + digits


def _articled(old: str, new: str) -> str:
    """A name in place of "the T-40" keeps the article where it is a code, as the old one was."""
    has_article = new.split()[0].casefold() in ("the", "a", "an", "our", "your")
    code = is_name(new.split()[-1]) and any(c.isdigit() for c in new)
    return f"the {new}" if old.casefold().startswith("the ") and code and not has_article else new


def _matched_case(like: str, word: str) -> str:
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
