"""Markers such as [2] that a model puts behind what it took from numbered evidence. Knows one text and numbers.

Models write them in many ways: [1, 3], [1-3], [[2]], [Source 2], 【2】, and, when they stop too early, [2 without its end.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from .draft import Mark

_OPEN, _CLOSE = r"[\[【［]", r"[\]】］]"
_NUMBER = (
    r"(?:(?:sources?|evidence|passages?|documents?|docs?|texts?|refs?|no)\b\.?\s*)?[#^]?\s*\d{1,3}(?:†[^\]】\n]{0,40})?"
)
_ITEM = rf"{_OPEN}?\s*{_NUMBER}\s*{_CLOSE}?"
_BETWEEN = r"\s*(?:[,;&/–—-]|\band\b|\bund\b|\bto\b)\s*"
_WHOLE = rf"\s*{_OPEN}{{1,2}}\s*{_ITEM}(?:{_BETWEEN}{_ITEM}){{0,19}}\s*{_CLOSE}{{1,2}}"
_END = r"(?=\s*(?:$|[.!?](?:\s|$)|\n))"
_UNCLOSED = rf"\s*{_OPEN}\s*{_NUMBER}{_END}"
_UNOPENED = rf"(?<=[^\W\d_])\s+{_NUMBER}{_CLOSE}(?=\s*(?:$|[.,;!?\n]))"
_CUT_OFF = rf"\s*{_OPEN}\s*$"
_MARKER = re.compile(
    rf"(?P<whole>{_WHOLE})|(?P<unclosed>{_UNCLOSED})|(?P<unopened>{_UNOPENED})|(?P<cut>{_CUT_OFF})", re.IGNORECASE
)
_RANGE = re.compile(r"(\d{1,3})(?:\s*[–—-]\s*(\d{1,3}))?")
_LONGEST_RANGE = 20


class Unmarked(NamedTuple):
    """`kept`: where each character of `text` stood before. `marks`: the evidence named, by its index, wherever the text
    it was shown has it; `numbers`: every number that stood in a marker, right or wrong, each once."""

    text: str
    kept: tuple[int, ...]
    marks: tuple[Mark, ...]
    numbers: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where characters of the text before are now; (0, 0) where none of them was kept."""
        first, last = bisect_left(self.kept, start), bisect_left(self.kept, end)
        return (first, last) if first < last else (0, 0)


def unmarked(text: str, *, shown: int) -> Unmarked:
    """The text without its markers and without the blanks around it, and what the markers name of the first `shown` texts,
    which are numbered from 1. A number that none of them has names nothing.

    >>> unmarked("Mira Holt [2] built it [1, 9].", shown=2)[0::2]
    ('Mira Holt built it.', (Mark(at=9, evidence=1), Mark(at=18, evidence=0)))
    """
    found = list(_markers(text))
    cut = [False] * len(text)
    for start, end, _ in found:
        cut[start:end] = [True] * (end - start)
    kept = [i for i in range(len(text)) if not cut[i]]
    while kept and text[kept[-1]].isspace():
        kept.pop()
    first = next((n for n, i in enumerate(kept) if not text[i].isspace()), len(kept))
    kept = kept[first:]
    marks: dict[Mark, None] = {}
    for start, _, numbers in found:
        at = bisect_left(kept, start)
        marks |= {Mark(at, number - 1): None for number in numbers if 1 <= number <= shown}
    every = dict.fromkeys(number for _, _, numbers in found for number in numbers)
    return Unmarked("".join(text[i] for i in kept), tuple(kept), tuple(marks), tuple(every))


def _markers(text: str) -> Iterator[tuple[int, int, list[int]]]:
    for match in _MARKER.finditer(text):
        if match["unopened"] and _inside_brackets(text, match.start()):
            continue
        yield match.start(), match.end(), list(_numbers(match.group()))


def _inside_brackets(text: str, at: int) -> bool:
    """Whether a bracket is open here, so that one that closes belongs to it."""
    return max(text.rfind(c, 0, at) for c in "[【［") > max(text.rfind(c, 0, at) for c in "]】］")


def _numbers(marker: str) -> Iterator[int]:
    for first, last in _RANGE.findall(marker):
        until = int(last) if last else int(first)
        yield from range(int(first), until + 1) if 0 <= until - int(first) <= _LONGEST_RANGE else (int(first), until)
