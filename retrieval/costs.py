"""What searching costs by size: records, fits, a page and a picture. Measures nothing itself."""

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

import numpy as np
from pydantic import BaseModel, ConfigDict

TARGET = 100_000_000


class Cost(BaseModel):
    """One engine at one size, measured in a process of its own. `peak_mib` is all memory of that process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str
    passages: int
    build_seconds: float
    peak_mib: float
    disk_mib: float
    p50_ms: float
    p95_ms: float
    recall: float | None = None
    """At 10, against exact search."""
    open_seconds: float | None = None


class Setting(BaseModel):
    """What all costs of a run have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str
    exponent: float
    tail: float
    mean_words: float
    dimension: int
    queries: int
    threads: int
    machine: str
    seed: int


Line = tuple[float, float]
"""Slope and height of a straight line through logarithms: cost = height * passages ** slope."""


def fit(points: Sequence[tuple[int, float]]) -> Line | None:
    """Through the two largest sizes, since small ones are mostly fixed cost. None for fewer than two.

    >>> fit([(10, 1.0), (100, 2.0), (1000, 20.0)])
    (1.0, 0.02)
    """
    if len(points) < 2 or any(cost <= 0 for _, cost in points[-2:]):
        return None
    (few, cheap), (many, dear) = sorted(points)[-2:]
    slope = float(np.log(dear / cheap) / np.log(many / few))
    return round(slope, 6), round(float(dear / many**slope), 12)


def at(line: Line, passages: float) -> float:
    slope, height = line
    return float(height * passages**slope)


def added_up(points: Sequence[tuple[int, float]], passages: float) -> float | None:
    """A cost with a fixed part and one that each passage adds, from the two largest sizes: memory. None for fewer than two.

    >>> added_up([(10, 100.0), (100, 190.0)], 1000)
    1090.0
    """
    if len(points) < 2:
        return None
    (few, cheap), (many, dear) = sorted(points)[-2:]
    return dear + (passages - many) * max(dear - cheap, 0.0) / (many - few)


def crossing(one: Line, other: Line) -> float | None:
    """The size above which `other` is cheaper; None where it never is.

    >>> round(crossing((1.0, 0.001), (0.0, 2.0)) or 0)
    2000
    """
    if one[0] <= other[0]:
        return None
    return float((other[1] / one[1]) ** (1 / (one[0] - other[0])))


def page(costs: Sequence[Cost], setting: Setting) -> str:
    """Markdown."""
    about = (
        f"Text: words by Zipf's law, exponent {setting.exponent:.2f}, of rare words {setting.tail:.1f}; passages of"
        f" {setting.mean_words:.0f} words on average; fitted to {setting.corpus}. Vectors: {setting.dimension} dimensions, drawn"
        f" around 1,000 centres with as much noise, not embedded from the text. {setting.queries} questions, one at a time,"
        f" {setting.threads} threads (exact search takes one), seed {setting.seed}. Machine: {setting.machine}."
        " Every engine ran in a process of its own; memory is that process's peak, Python and its libraries among it."
        " Hybrid is built from the words and the graph that the engines before it left: its building is keeping them."
    )
    return "\n\n".join(["# What searching costs by size", about, _table(costs), _pays(costs), _far(costs)]) + "\n"


def picture(costs: Sequence[Cost]) -> bytes:
    """A PNG: time of a question, of building, and memory, against size. Raises ImportError without matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = {"a question, p50, ms": "p50_ms", "building, s": "build_seconds", "peak memory, MiB": "peak_mib"}
    for axes, (label, field) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        for engine, mine in _by_engine(costs).items():
            axes.plot([c.passages for c in mine], [getattr(c, field) for c in mine], marker="o", label=engine)
        axes.set(xscale="log", yscale="log", xlabel="passages", title=label)
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    out = BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def _table(costs: Iterable[Cost]) -> str:
    rows = ["| engine | passages | built in | peak memory | on disk | p50 | p95 | recall@10 | opened in |"]
    rows.append("| --- " * 9 + "|")
    for cost in costs:
        recall = "" if cost.recall is None else f"{100 * cost.recall:.1f}%"
        opened = "" if cost.open_seconds is None else f"{cost.open_seconds:.2f} s"
        rows.append(
            f"| {cost.engine} | {cost.passages:,} | {cost.build_seconds:.1f} s | {cost.peak_mib:,.0f} MiB"
            f" | {cost.disk_mib:,.0f} MiB | {cost.p50_ms:.2f} ms | {cost.p95_ms:.2f} ms | {recall} | {opened} |"
        )
    return "\n".join(rows)


def _pays(costs: Sequence[Cost]) -> str:
    lines = ["## Where each engine pays", ""]
    times = {engine: fit([(c.passages, c.p50_ms) for c in mine]) for engine, mine in _by_engine(costs).items()}
    exact = times.get("flat")
    for engine in ("hnsw", "sq8", "ivf-sq8"):
        other = times.get(engine)
        if exact is None or other is None:
            continue
        lines.append(f"- {engine} {_said(exact, other, max(cost.passages for cost in costs))}.")
    if len(lines) == 2:
        lines.append("Two sizes and exact search are needed to say.")
    return "\n".join(lines)


def _said(exact: Line, other: Line, largest: int) -> str:
    size, quicker = crossing(exact, other), at(other, largest) < at(exact, largest)
    if quicker and (size is None or size < 1000):
        return "is quicker than exact search at every size"
    if size is None:
        return "is quicker than exact search at no size, by these fits"
    return f"is quicker than exact search above {size:,.0f} passages"


def _far(costs: Sequence[Cost]) -> str:
    rows = [
        f"## From here to {TARGET:,} passages",
        "Arithmetic, not measurement. Times: a straight line through the logarithms of the two largest sizes, but a question gets"
        " no quicker, and building grows at least in proportion; memory: a fixed part, and as much a passage as was added"
        " between those sizes. So it assumes that nothing changes on the way (caches,"
        " disks, a graph that no longer fits into memory) and that one machine does it all. Shares of a cluster cost their"
        " part of the memory; a question then waits for the slowest share.",
        "| engine | a question | building | peak memory | machines of 64 GB |\n| --- | --- | --- | --- | --- |",
    ]
    found = []
    for engine, mine in _by_engine(costs).items():
        wait = _led_on([(c.passages, c.p50_ms) for c in mine], slope=0.0)
        build = _led_on([(c.passages, c.build_seconds) for c in mine], slope=1.0)
        memory = added_up([(c.passages, c.peak_mib) for c in mine], TARGET)
        if wait is None or build is None or memory is None:
            continue
        machines = int(np.ceil(memory / 1024 / 64))
        found.append(f"| {engine} | {wait:,.1f} ms | {build / 3600:,.1f} h | {memory / 1024:,.0f} GiB | {machines} |")
    rows[-1] += "\n" + ("\n".join(found) if found else "| two sizes are needed | | | | |")
    return "\n\n".join(rows)


def _led_on(points: Sequence[tuple[int, float]], *, slope: float) -> float | None:
    """The cost at `TARGET`, by the fit but no flatter than `slope`."""
    line = fit(points)
    if line is None:
        return None
    many, dear = max(points)
    return max(at(line, TARGET), float(dear * (TARGET / many) ** slope))


def _by_engine(costs: Iterable[Cost]) -> Mapping[str, list[Cost]]:
    grouped: dict[str, list[Cost]] = {}
    for cost in costs:
        grouped.setdefault(cost.engine, []).append(cost)
    return {engine: sorted(mine, key=lambda cost: cost.passages) for engine, mine in grouped.items()}
