"""Where values of a type stand in a text, and what they are. Pure rules of English; knows no tool and no model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

from ..dated import located
from .slot import Slot

_NUMBER = re.compile(
    r"(?<![\w.,])(?<!\w-)(?P<sign>[-−+]?)(?P<digits>\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+|\d+)(?P<decimals>\.\d+)?"
    r"(?![.,]?\d)(?!-\w)(?:\s?(?P<scale>thousand|million|billion)\b)?",
    re.IGNORECASE,
)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_WORDS = {word: number for number, word in enumerate(_SMALL.split())}
_TENS = {w: 10 * n for n, w in enumerate(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 3)} | {
    "twenty": 20
}
_WORD_NUMBER = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})[- ](?P<ones>{'|'.join(_SMALL.split()[1:10])})"
    rf"|(?P<one>{'|'.join([*_WORDS, *_TENS])}))(?:\s(?P<scale>hundred|thousand|million))?\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"^[\sT,]*(?:at\s+)?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?")
_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}
_BOOLEAN = re.compile(r"\b(?:yes|no|true|false)\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“«„](?P<said>[^\"“”«»„]{1,200})[\"”»“]|(?<!\w)['‘](?P<also>[^'‘’]{1,200})['’](?!\w)")


@dataclass(frozen=True, slots=True)
class Found:
    """A value and the characters `start` to `end` of the text that say it."""

    value: Any
    start: int
    end: int


def found(slot: Slot, text: str) -> list[Found]:
    """Every value of a slot's type in a text, in order. A text without a pattern is only found in quotation marks.

    >>> [f.value for f in found(Slot("n", "", "number", True), "It fell by 1,200 to -3.5 or two million, says EN-12.")]
    [1200.0, -3.5, 2000000.0]
    """
    match slot.kind:
        case "integer":
            return [Found(int(f.value), f.start, f.end) for f in _numbers(text) if f.value == int(f.value)]
        case "number":
            return [Found(float(f.value), f.start, f.end) for f in _numbers(text)]
        case "boolean":
            return [Found(_BOOLEANS[m.group().casefold()], *m.span()) for m in _BOOLEAN.finditer(text)]
        case "choice":
            return _choices(slot, text)
        case "date":
            return [Found(day, start, end) for day, start, end in located(text)]
        case "datetime":
            return list(_moments(text))
    if slot.pattern:
        return [Found(m.group(), *m.span()) for m in _matches(slot.pattern, text)]
    quoted = ((m.group(m.lastgroup or 0), m.span(m.lastgroup or 0)) for m in _QUOTED.finditer(text))
    return [Found(said.strip(), *span) for said, span in quoted if said.strip()]


def read(slot: Slot, text: str) -> Found | None:
    """The one value that a short text says; None where it says none or several. Free text is itself the value.

    >>> read(Slot("height", "", "integer", True), "up to 20 metres").value
    20
    >>> read(Slot("height", "", "integer", True), "2 or 3") is None
    True
    """
    if slot.kind == "text" and not slot.pattern:
        said = text.strip()
        return Found(said, text.index(said), text.index(said) + len(said)) if said else None
    values = found(slot, text)
    return values[0] if values and all(one.value == values[0].value for one in values) else None


def _numbers(text: str) -> Iterator[Found]:
    written = [(m, _written(m)) for m in _NUMBER.finditer(text)] + [
        (m, _spelled(m)) for m in _WORD_NUMBER.finditer(text)
    ]
    for match, value in sorted(written, key=lambda pair: pair[0].start()):
        yield Found(value, match.start(), match.end())


def _written(match: re.Match[str]) -> float:
    digits = re.sub(r"\D", "", match["digits"]) + (match["decimals"] or "")
    value = (float(digits) if match["decimals"] else int(digits)) * _SCALES.get((match["scale"] or "").casefold(), 1)
    return -value if match["sign"] in ("-", "−") else value


def _spelled(match: re.Match[str]) -> int:
    if match["tens"]:
        value = _TENS[match["tens"].casefold()] + _WORDS[match["ones"].casefold()]
    else:
        value = (_WORDS | _TENS)[match["one"].casefold()]
    return int(value * {"hundred": 100, **_SCALES}.get((match["scale"] or "").casefold(), 1))


def _choices(slot: Slot, text: str) -> list[Found]:
    """Longer choices first, so that "not shipped" isn't read as "shipped"."""
    spoken = sorted(slot.choices, key=lambda choice: -len(choice[0]))
    known: list[Found] = []
    for said, value in spoken:
        for match in re.finditer(rf"(?<!\w){re.escape(said)}(?!\w)", text, re.IGNORECASE):
            if not any(match.start() < f.end and f.start < match.end() for f in known):
                known.append(Found(value, *match.span()))
    return sorted(known, key=lambda f: f.start)


def _moments(text: str) -> Iterator[Found]:
    for day, start, end in located(text):
        clock = _TIME.match(text[end:])
        moment = time(int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0)) if clock else time()
        yield Found(datetime.combine(day, moment), start, end + (clock.end() if clock else 0))


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """A pattern that describes a whole value, anchors or not, found as a word of its own."""
    inner = pattern.removeprefix("^").removesuffix("$")
    return re.finditer(rf"(?<![\w-])(?:{inner})(?!\w|-\w)", text)
