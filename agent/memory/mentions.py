"""What a text names: names, dates, plain noun phrases. By rules of English, without a model; knows no conversation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WORD = re.compile(r"\w+(?:[-'’.&/]\w+)*")


def words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


QUESTION_WORDS = words("who whom whose what which when where why how")
AUXILIARIES = words(
    "is are was were be been am do does did has have had can could will would shall should may might must"
)
PRONOUNS = words(
    "i you he she it we they me him her us them my your his its our their this that these those there one ones"
)
DETERMINERS = words("the a an our your its their his her my this that these those")
PREPOSITIONS = words(
    "of in on at by for from with to about into over under after before since until during near between through"
)
CONNECTIVES = words("and but so or then ok okay also")
_INSIDE_NAMES = words("of de von van der du la del da di the & for y")
_OPENERS = words(
    "list name tell give describe explain show say please find compare summarise summarize use using create make"
)
_FUNCTION_WORDS = (
    QUESTION_WORDS | AUXILIARIES | PRONOUNS | DETERMINERS | PREPOSITIONS | CONNECTIVES | _OPENERS
) | words("not no if as than because while any some all many much long often there")
_LONGEST_NAME = 8


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters `start` to `end` of a text. `text` has its article, as in "the B-7", where one stood before it."""

    text: str
    start: int
    end: int
    name: bool
    """Whether it is a proper name rather than a noun phrase."""
    number: bool = False
    """Whether it is a year, a date or an amount, which a pronoun can't mean."""


def mentions(text: str) -> list[Mention]:
    """Names and numbers in the order of the text, then noun phrases without a name in them.

    >>> [m.text for m in mentions("When did Henrik Dahl of Halden sell the B-7 after 2018?")]
    ['Henrik Dahl of Halden', 'the B-7', '2018']
    >>> [m.text for m in mentions("How long is the warranty of a battery?")]
    ['the warranty', 'a battery']
    """
    found = list(WORD.finditer(text))
    named = list(_named(text, found))
    taken = [(mention.start, mention.end) for mention in named]
    return [*named, *(m for m in _phrases(text, found) if not any(m.start < e and s < m.end for s, e in taken))]


def is_name(word: str) -> bool:
    """Whether a word looks like a part of a name or a code.

    >>> [is_name(word) for word in ("Dahl", "T-40", "iPhone", "buoy", "1987")]
    [True, True, True, False, False]
    """
    letters = any(character.isalpha() for character in word)
    return letters and (any(c.isupper() for c in word) or any(c.isdigit() for c in word))


def _named(text: str, words: Sequence[re.Match[str]]) -> Iterator[Mention]:
    at = 0
    while at < len(words):
        if not _opens_name(words, at):
            if any(c.isdigit() for c in words[at].group()):
                yield Mention(words[at].group(), *words[at].span(), name=False, number=True)
            at += 1
            continue
        last = _name_end(text, words, at)
        yield _with_article(text, words, at, last, name=True)
        at = last + 1


def _opens_name(words: Sequence[re.Match[str]], at: int) -> bool:
    word = words[at].group()
    return is_name(word) and word.casefold() not in _FUNCTION_WORDS


def _name_end(text: str, words: Sequence[re.Match[str]], at: int) -> int:
    """The index of a name's last word: words like it that follow, also behind a small word as "of"."""
    last = at
    for following in range(at + 1, min(len(words), at + _LONGEST_NAME)):
        if text[words[following - 1].end() : words[following].start()] not in (" ", "\u00a0", ". "):
            break
        word = words[following].group()
        if _opens_name(words, following) or (last == following - 1 and word.isdigit() and len(word) < 4):
            last = following
        elif word not in _INSIDE_NAMES:
            break
    return last


def _phrases(text: str, words: Sequence[re.Match[str]]) -> Iterator[Mention]:
    """Runs of plain words behind an article, up to the next small word; at most three words."""
    for at, word in enumerate(words):
        if word.group().casefold() not in DETERMINERS - PRONOUNS or at + 1 >= len(words):
            continue
        last = _phrase_end(words, at)
        if last > at:
            yield Mention(text[word.start() : words[last].end()], word.start(), words[last].end(), name=False)


def _phrase_end(words: Sequence[re.Match[str]], at: int) -> int:
    """The index of a phrase's last word. What ends the text in "-ed" or the like is a verb: "what is the cat called?"."""
    last = at
    for following in range(at + 1, min(len(words), at + 4)):
        if words[following].group().casefold() in _FUNCTION_WORDS:
            break
        last = following
    if last > at + 1 and words[last].group().endswith(("ed", "ing")):
        last -= 1
    return last


def _with_article(text: str, words: Sequence[re.Match[str]], first: int, last: int, *, name: bool) -> Mention:
    start = words[first].start()
    if first and words[first - 1].group().casefold() in ("the", "a", "an") and text[words[first - 1].end()] == " ":
        start = words[first - 1].start()
    return Mention(text[start : words[last].end()], start, words[last].end(), name=name)
