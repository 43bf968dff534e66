"""Where sentences end, by rules, in time linear in the text. Nothing here knows what a passage is."""

import re
from collections.abc import Iterator

from .blocks import Block, Break, blocks
from .document import Span

# These end a sentence wherever they stand; the others want a blank behind them.
_ALWAYS = "。！？｡।॥؟۔።။"
_STOP = re.compile(rf"(?P<mark>[.!?…{_ALWAYS}]+)(?:[\"'”’»)\]}}」』）】〉》*_]|\[\d{{1,3}}\])*")
_NEXT = re.compile(r"(?P<gap>\s*)[\"'“‘«„(\[{*_¿¡「『（【〈《—–-]{0,4}(?P<word>[^\W\d_]{0,16})")
_BLANKS = re.compile(r"\s*")
_OPENERS = "\"'“‘«„([{*_—–-"
_LOOK_BACK = 24

_FIRST_IDEOGRAPH = "\u2e80"
_ENUMERATOR = re.compile(r"\d{1,3}|[^\W\d_]|[ivxlc]{1,5}", re.IGNORECASE)
_DOTTED = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEVER_LAST = _words("""
    dr mr mrs ms mx prof rev hon gen col lt maj sgt capt cmdr gov sen rep pres supt messrs mme mlle mt ft hr fr dipl ing
    e.g i.e eg ie v vs cf viz al approx z.b d.h u.a bzw ggf vgl evtl incl resp p.ej
""")
_BEFORE_NUMBERS = _words("""
    no nos nr fig figs p pp vol vols ch chap sec sect eq eqs art para ca c r ver
    jan feb mar apr jun jul aug sep sept oct nov dec
""")
_SOMETIMES_LAST = _words("etc inc ltd co corp llc bros jr sr st ave blvd rd dept univ est ph.d b.sc m.sc usw")
_STARTERS = _words("""
    a an the this that these those it its he she his her they their we our you your i in on at by for from with to of
    as if when while after before since because although though but and or so yet however there then here what who why
    how where which no not all some many most both each every one two another other such
    der die das ein eine es er sie wir im le la les un une il elle el los las
""")


def sentences(text: str) -> Iterator[Span]:
    """Spans in order that hold every non-blank character; none begins or ends with a blank or crosses a block.

    >>> text = "Dr. No paid $3.50. J. K. Rowling did not! 好。是。"
    >>> [text[s.start : s.end] for s in sentences(text)]
    ['Dr. No paid $3.50.', 'J. K. Rowling did not!', '好。', '是。']
    """
    for block in blocks(text):
        yield from sentences_of_block(text, block)


def sentences_of_block(text: str, block: Block) -> Iterator[Span]:
    """The sentences of one block; a line end inside it is a blank like any other. A heading is one sentence."""
    start, end = block.start, block.end
    stops = _STOP.finditer(text, start, end) if block.before is not Break.HEADING else ()
    for stop in stops:
        if _ends_sentence(text, start, stop, end):
            yield Span(start, stop.end())
            start = after_blanks(text, stop.end(), end)
    if start < end:
        yield Span(start, end)


def after_blanks(text: str, at: int, end: int) -> int:
    """The first place from `at` on that isn't blank, or `end`. The text, perhaps megabytes, isn't copied."""
    blanks = _BLANKS.match(text, at, end)
    return blanks.end() if blanks else at


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    following = _NEXT.match(text, stop.end(), end)
    assert following is not None, "every part of the pattern is optional"
    at = following.end("gap")
    if at == end or any(mark in _ALWAYS for mark in stop["mark"]):
        return True
    if not following["gap"]:
        return stop["mark"][-1] in "!?" and text[at] >= _FIRST_IDEOGRAPH
    word = following["word"]
    # A title that ends in a question mark is often followed by its year: "Love?" (2011).
    title = text[at] == "(" and stop["mark"] in ("!", "?") and stop.end() > stop.end("mark")
    if title or text[at] in ".!?…" or (word[:1].islower() and not word[1:2].isupper()):
        return False
    if stop["mark"] != "." or stop.end() - stop.start() > 1:
        return True
    return _may_be_last(_word_before(text, start, stop.start()), text[start : start + 6], word, text[at])


def _word_before(text: str, start: int, stop: int) -> str:
    near = text[max(start, stop - _LOOK_BACK) : stop]
    return near.split()[-1].lstrip(_OPENERS) if near and not near[-1].isspace() else ""


def _may_be_last(word: str, opening: str, following: str, character: str) -> bool:
    """Whether a sentence may end with `word` and a full stop, when `following` is the first word behind it."""
    if opening.startswith(word + ".") and _ENUMERATOR.fullmatch(word):
        return False
    known = word.lower()
    if known in _NEVER_LAST:
        return False
    if known in _BEFORE_NUMBERS and character.isdigit():
        return False
    initial = (len(word) == 1 and word.isupper()) or _DOTTED.fullmatch(word)
    if initial or known in _SOMETIMES_LAST:
        return following.lower() in _STARTERS and following[:1].isupper()
    return True
