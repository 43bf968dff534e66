"""Rows turned into numbers with intervals: by backend, by kind of question, and between backends. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict

from .asking import Row
from .interval import Interval, difference, mean, median_ratio, quantile

COMPARED = ("em", "f1", "sp_em", "sp_f1", "joint_em", "joint_f1", "resolved", "handled", "wrong")


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scores(Record):
    """Of one backend. Nothing here depends on how fast the machine was."""

    backend: str
    questions: int
    abstained: int
    failed: int
    """Questions on which the model failed, all or in part; see the rows' errors."""
    metrics: dict[str, Interval]
    by_type: dict[str, dict[str, Interval]]


class Pair(Record):
    """Ours minus theirs, paired by question."""

    ours: str
    theirs: str
    metrics: dict[str, Interval]


class Times(Record):
    """Of one backend, in seconds over questions. `stages` are medians."""

    backend: str
    p50: Interval
    p95: Interval
    p99: Interval
    first_draft: Interval
    stages: dict[str, float]
    passes: float
    """Mean number of passes over the canvas; of a model that writes word by word, of its steps."""


class Speed(Record):
    """How many times as fast the first backend is as another: p50 over p50, paired by question."""

    ours: str
    theirs: str
    ratio: Interval


def scores_of(rows: Sequence[Row], *, seed: int) -> Scores:
    """Of the rows of one backend, at least one."""
    kinds = sorted({row.type for row in rows if row.type})
    return Scores(
        backend=rows[0].backend,
        questions=len(rows),
        abstained=sum(row.abstained for row in rows),
        failed=sum(bool(row.errors) for row in rows),
        metrics=_metrics(rows, seed),
        by_type={kind: _metrics([row for row in rows if row.type == kind], seed) for kind in kinds},
    )


def pair_of(ours: Sequence[Row], theirs: Sequence[Row], *, seed: int) -> Pair:
    """Rows of the same questions in the same order."""
    assert [row.id for row in ours] == [row.id for row in theirs]
    metrics = {}
    for name in COMPARED:
        both = [(a.scores[name], b.scores[name]) for a, b in zip(ours, theirs, strict=True) if name in a.scores]
        if both:
            metrics[name] = difference([a for a, _ in both], [b for _, b in both], seed=seed)
    return Pair(ours=ours[0].backend, theirs=theirs[0].backend, metrics=metrics)


def times_of(rows: Sequence[Row], *, seed: int) -> Times:
    total = [row.seconds["total"] for row in rows]
    names = dict.fromkeys(name for row in rows for name in row.seconds if name not in ("total", "first_draft"))
    return Times(
        backend=rows[0].backend,
        p50=quantile(total, 0.50, seed=seed),
        p95=quantile(total, 0.95, seed=seed),
        p99=quantile(total, 0.99, seed=seed),
        first_draft=quantile([row.seconds["first_draft"] for row in rows], 0.5, seed=seed),
        stages={name: median([row.seconds.get(name, 0.0) for row in rows]) for name in names},
        passes=round(sum(sum(made.index > 0 for made in row.passes) for row in rows) / len(rows), 3),
    )


def speed_of(ours: Sequence[Row], theirs: Sequence[Row], *, seed: int) -> Speed:
    """Rows of the same questions in the same order."""
    assert [row.id for row in ours] == [row.id for row in theirs]
    totals = [[row.seconds["total"] for row in rows] for rows in (ours, theirs)]
    return Speed(ours=ours[0].backend, theirs=theirs[0].backend, ratio=median_ratio(*totals, seed=seed))


def by_backend(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each backend, in the order in which backends first come."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.backend, []).append(row)
    return list(groups.values())


def median(values: Sequence[float]) -> float:
    """
    >>> median([1.0, 4.0, 2.0]), median([1.0, 2.0])
    (2.0, 1.5)
    """
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _metrics(rows: Sequence[Row], seed: int) -> dict[str, Interval]:
    """Each over the questions that have it: one without marked sentences has no supporting-fact scores."""
    return {name: mean(values, seed=seed) for name, values in _columns(rows)}


def _columns(rows: Sequence[Row]) -> Iterator[tuple[str, list[float]]]:
    for name in dict.fromkeys(name for row in rows for name in row.scores):
        yield name, [row.scores[name] for row in rows if name in row.scores]
