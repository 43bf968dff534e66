"""Pictures of a report, as PNG. The one module that imports matplotlib, which is optional: without it there are none."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from .asking import Row
from .interval import Interval
from .summary import by_backend

INSTALL = "pip install 'remask[eval]'"
_COLOURS = ("#2a6f97", "#c8553d", "#6a994e", "#7b5ea7", "#8a8a8a", "#b08968")


def can_plot() -> bool:
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def bars(title: str, values: Mapping[str, Mapping[str, Interval]]) -> bytes:
    """Bars with intervals, in percent: a group for each metric, in it a bar for each backend."""
    figure, axes = _figure(title)
    names = list(dict.fromkeys(name for found in values.values() for name in found))
    width = 0.8 / max(1, len(values))
    for place, (backend, found) in enumerate(values.items()):
        shown = [(i, found[name]) for i, name in enumerate(names) if name in found]
        heights = [100 * interval.value for _, interval in shown]
        low = [100 * max(0.0, interval.value - interval.low) for _, interval in shown]
        high = [100 * max(0.0, interval.high - interval.value) for _, interval in shown]
        at = [i + width * (place - (len(values) - 1) / 2) for i, _ in shown]
        colour = _COLOURS[place % len(_COLOURS)]
        axes.bar(at, heights, width, yerr=[low, high], label=backend, color=colour, capsize=3)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 100)
    axes.set_ylabel("percent")
    axes.legend(frameon=False)
    return _png(figure)


def waiting(rows: Sequence[Row]) -> bytes:
    """The share of questions that were answered within a time, for each backend."""
    figure, axes = _figure("Questions answered within a time")
    for place, group in enumerate(by_backend(rows)):
        seconds = sorted(row.seconds["total"] for row in group)
        share = [100 * (i + 1) / len(seconds) for i in range(len(seconds))]
        milliseconds = [1000 * value for value in seconds]
        colour = _COLOURS[place % len(_COLOURS)]
        axes.step(milliseconds, share, where="post", label=group[0].backend, color=colour)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(0, 100)
    axes.set_xlabel("milliseconds from question to answer")
    axes.set_ylabel("percent of questions")
    axes.legend(frameon=False)
    return _png(figure)


def curves(title: str, lines: Mapping[str, Sequence[tuple[int, Interval]]], *, across: str = "documents") -> bytes:
    """A line a name, in percent, over a number of documents or of something else, with bands for the intervals."""
    figure, axes = _figure(title)
    _banded(axes, {name: [(at, 100 * i.value, 100 * i.low, 100 * i.high) for at, i in p] for name, p in lines.items()})
    axes.set_ylim(0, 100)
    axes.set_xlabel(across)
    axes.set_ylabel("percent")
    return _png(figure)


def amounts(title: str, lines: Mapping[str, Sequence[tuple[int, Interval]]], across: str, up: str) -> bytes:
    """A line a name, of some amount over a whole number, with bands for the intervals."""
    figure, axes = _figure(title)
    _banded(axes, {name: [(at, i.value, i.low, i.high) for at, i in points] for name, points in lines.items()})
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({at for points in lines.values() for at, _ in points}))
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    return _png(figure)


def _banded(axes: Any, lines: Mapping[str, Sequence[tuple[int, float, float, float]]]) -> None:
    for place, (name, points) in enumerate(lines.items()):
        at, value, low, high = zip(*points, strict=True)
        colour = _COLOURS[place % len(_COLOURS)]
        axes.plot(at, value, marker="o", label=name, color=colour)
        axes.fill_between(at, low, high, alpha=0.12, color=colour)
    axes.legend(frameon=False)


def _figure(title: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # not pyplot: no state, no window

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _png(figure: Any) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
