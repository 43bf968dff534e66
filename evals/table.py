"""Numbers as cells and rows of a Markdown table. Pure functions."""

from collections.abc import Iterable, Sequence

from .interval import Interval


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """
    >>> print(table(["a", "b"], [["x|y", "2"]]))
    | a | b |
    | --- | --- |
    | x\\|y | 2 |
    """
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def percent(interval: Interval | None) -> str:
    """
    >>> percent(Interval(value=0.5, low=0.25, high=0.75, n=8))
    '50.0 [25.0, 75.0]'
    """
    return _shown(interval, 100, 1)


def points(interval: Interval | None) -> str:
    """A difference in percentage points, always with its sign.

    >>> points(Interval(value=0.5, low=-0.25, high=0.75, n=8))
    '+50.0 [-25.0, +75.0]'
    """
    return _shown(interval, 100, 1, sign="+")


def milliseconds(interval: Interval | None) -> str:
    return _shown(interval, 1000, 0 if interval is None or interval.value >= 0.01 else 2)


def times(interval: Interval | None) -> str:
    """
    >>> times(Interval(value=15.25, low=14.0, high=16.0, n=8))
    '15.2 [14.0, 16.0]'
    """
    return _shown(interval, 1, 1)


def number(interval: Interval | None, *, digits: int = 1) -> str:
    """
    >>> number(Interval(value=0.5, low=0.25, high=0.75, n=8), digits=2)
    '0.50 [0.25, 0.75]'
    """
    return _shown(interval, 1, digits)


def _shown(interval: Interval | None, scale: float, digits: int, *, sign: str = "") -> str:
    if interval is None:
        return "–"
    value, low, high = (
        f"{scale * number:{sign}.{digits}f}" for number in (interval.value, interval.low, interval.high)
    )
    return f"{value} [{low}, {high}]"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
