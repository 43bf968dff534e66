"""The date a document bears. Knows how dates are written in English, and nothing of what they date."""

import re
from collections.abc import Iterator
from datetime import date

from ..retrieval.document import Document

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(name[:3] for name in _MONTHS)}|sept)\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = tuple(
    re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE)
    for pattern in (
        r"(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)-(?P<day>\d\d)",
        rf"{_DAY} (?:of )?{_MONTH},? {_YEAR}",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        rf"(?P<day>){_MONTH},? {_YEAR}",
    )
)
_HEAD = 400
"""A document says its own date near its top; what stands further down dates something else."""


def dated(document: Document) -> date | None:
    """Its `date` in the metadata, else the first date in its first 400 characters. A month alone counts from its first day.

    >>> dated(Document(id="a", text="# Fees" + chr(10) + "Updated: 3 May 2021, replaces that of 1 May 2019"))
    datetime.date(2021, 5, 3)
    """
    given = document.metadata.get("date")
    known = next(dates(str(given)), None) if given is not None else None
    return known or next(dates(document.text[:_HEAD]), None)


def dates(text: str) -> Iterator[date]:
    """In the order of the text. What is no day of the calendar is left out.

    >>> [str(found) for found in dates("Seen June 2020, 2021-02-29 and on Jan. 5, 2022.")]
    ['2020-06-01', '2022-01-05']
    """
    return (day for day, _, _ in located(text))


def located(text: str) -> Iterator[tuple[date, int, int]]:
    """Each date with the characters that say it.

    >>> list(located("on Jan. 5, 2022."))
    [(datetime.date(2022, 1, 5), 3, 15)]
    """
    found = sorted(
        (match for pattern in _DATES for match in pattern.finditer(text)), key=lambda m: (m.start(), -m.end())
    )
    end = 0
    for match in found:
        if match.start() < end:
            continue
        end = match.end()
        day = _day(match)
        if day:
            yield day, match.start(), match.end()


def spelled(day: date) -> str:
    """
    >>> spelled(date(2021, 5, 3))
    '3 May 2021'
    """
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _day(match: re.Match[str]) -> date | None:
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else _number(parts["month"])
    try:
        return date(int(parts["year"]), month, int(parts["day"] or 1))
    except ValueError:
        return None


def _number(month: str) -> int:
    return next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(month[:3].casefold()))
