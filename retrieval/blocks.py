"""Where a text's own layout breaks it: headings, paragraphs, list items, table rows. Knows nothing of sentences."""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple


class Break(IntEnum):
    """How strongly the text breaks before a piece of it; higher is a better place to cut."""

    WORD = 0
    SENTENCE = 1
    LINE = 2
    PARAGRAPH = 3
    HEADING = 4


class Block(NamedTuple):
    """Characters `start` to `end` that belong together, without blanks at either end."""

    start: int
    end: int
    before: Break


_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{3,})$")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦–]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+\S")
_ROW = re.compile(r"\s*\||.*(?:\t| \| )")

# Shorter lines than this were broken on purpose; ideographs are twice as wide.
_WRAPPED_WIDTH = 40
# PDF pages are ragged: a line that is three quarters full may have been wrapped.
_FULL_ENOUGH = 0.75
_FIRST_IDEOGRAPH = "\u2e80"


def blocks(text: str) -> Iterator[Block]:
    """Every non-blank character of the text, in order, in exactly one block. Hard-wrapped lines are one block again.

    >>> text = "# Fruit\\nRipe is best.\\n\\n- apples\\n- pears"
    >>> [(text[b.start : b.end], b.before.name) for b in blocks(text)]
    [('# Fruit', 'HEADING'), ('Ripe is best.', 'LINE'), ('- apples', 'PARAGRAPH'), ('- pears', 'LINE')]
    """
    paragraph: list[Block] = []
    before = Break.PARAGRAPH
    fenced = False
    for line in _lines(text):
        content = text[line.start : line.end]
        fence = bool(_FENCE.match(content))
        heading = not fenced and bool(_HEADING.match(content))
        if not fenced and len(paragraph) == 1 and _UNDERLINE.match(content):
            yield Block(paragraph.pop().start, line.end, Break.HEADING)
            before = Break.LINE
            continue
        alone = fenced or fence or heading or bool(_ROW.match(content))
        if line.start == line.end or alone or _ITEM.match(content):
            yield from _unwrapped(text, paragraph)
            paragraph = []
        if line.start == line.end:
            before = Break.PARAGRAPH
            continue
        line = _trimmed(text, line, Break.HEADING if heading else before)
        if alone:
            yield line
        else:
            paragraph.append(line)
        before = Break.LINE
        fenced ^= fence
    yield from _unwrapped(text, paragraph)


def first_heading(text: str) -> str:
    """The words of the first Markdown heading, or an empty string. Inside a code fence it is a comment."""
    for block in blocks(text):
        if block.before is Break.HEADING:
            title = text[block.start : block.end].splitlines()[0].strip("# \t")
            if title:
                return title
    return ""


def _lines(text: str) -> Iterator[Block]:
    """Lines without their ends. Blank ones are empty; others keep their indentation, which layout depends on."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield Block(at, at + len(line.rstrip()), Break.LINE)
        at += len(line)


def _trimmed(text: str, line: Block, before: Break) -> Block:
    content = text[line.start : line.end]
    return Block(line.end - len(content.lstrip()), line.end, before)


def _unwrapped(text: str, lines: list[Block]) -> Iterator[Block]:
    """Joins lines that were broken only because the page was full; the others stay blocks of their own."""
    if not lines:
        return
    width = max(line.end - line.start for line in lines)
    current = lines[0]
    for previous, line in pairwise(lines):
        if _was_wrapped(text, previous, line, width):
            current = current._replace(end=line.end)
        else:
            yield current
            current = line
    yield current


def _was_wrapped(text: str, line: Block, following: Block, width: int) -> bool:
    ideographs = text[line.end - 1] >= _FIRST_IDEOGRAPH and text[following.start] >= _FIRST_IDEOGRAPH
    if width < (_WRAPPED_WIDTH // 2 if ideographs else _WRAPPED_WIDTH):
        return False
    if text[following.start].islower():
        return True
    next_word = 0 if ideographs else len(text[following.start : following.end].split(None, 1)[0])
    return line.end - line.start + 1 + next_word > _FULL_ENOUGH * width
