"""What a run of questions found, as a record, as JSON and as Markdown. Draws no pictures and opens no models."""

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from .asking import Row
from .interval import Interval
from .machine import Circumstances
from .summary import Pair, Scores, Speed, Times, by_backend, pair_of, scores_of, speed_of, times_of
from .table import milliseconds, percent, points, table, times

NAMES = {
    "em": "EM",
    "f1": "F1",
    "sp_em": "sp EM",
    "sp_f1": "sp F1",
    "joint_em": "joint EM",
    "joint_f1": "joint F1",
    "recall@2": "recall@2",
    "recall@5": "recall@5",
    "recall@10": "recall@10",
    "recall_read": "recall of what was read",
    "cite_recall": "citation recall",
    "cite_prec": "citation precision",
    "support": "mean support",
    "span_valid": "quotations exact",
    "any_citation": "answers with a citation",
    "marked_prec": "cited sentences that are marked",
    "marked_recall": "marked sentences that are cited",
    "cited_unanswerable": "unanswerable cited",
    "facts": "facts said",
    "cited": "documents cited",
    "resolved": "resolved",
    "handled": "handled",
    "wrong": "wrong answers",
    "answer_precision": "answers that are right",
    "abstain_precision": "abstentions that are right",
    "abstain_recall": "unanswerable abstained from",
    "hand_over_precision": "hand-overs that are right",
    "hand_over_recall": "hand-overs made",
}
HOW = """95% intervals, in brackets, are percentile bootstraps over questions (10,000 resamples); differences and ratios
are paired by question. EM, F1, sp (supporting sentences) and joint are HotpotQA's own metrics, in percent."""


class Described(Protocol):
    """A backend, or whatever else was asked."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def prompt(self) -> str: ...


class Report(BaseModel):
    """`scores` and `pairs` are the same for the same answers; `times` and `speeds` are this machine's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    settings: dict[str, Any]
    backends: dict[str, str]
    prompts: dict[str, str]
    circumstances: Circumstances
    scores: tuple[Scores, ...]
    pairs: tuple[Pair, ...]
    times: tuple[Times, ...]
    speeds: tuple[Speed, ...]

    def metrics(self) -> dict[str, Any]:
        """What is reproducible to the byte."""
        kept = self.model_dump(include={"settings", "scores", "pairs"})
        return {key: list(value) if isinstance(value, tuple) else value for key, value in kept.items()}


def report(
    title: str,
    rows: Sequence[Row],
    backends: Sequence[Described],
    settings: dict[str, Any],
    where: Circumstances,
    *,
    seed: int,
) -> Report:
    """The first backend is the one that the others are compared with."""
    groups = by_backend(rows)
    ours, others = groups[0], groups[1:]
    return Report(
        title=title,
        settings=settings,
        backends={b.name: b.model for b in backends},
        prompts={b.name: b.prompt for b in backends if b.prompt},
        circumstances=where,
        scores=tuple(scores_of(group, seed=seed) for group in groups),
        pairs=tuple(pair_of(ours, other, seed=seed) for other in others),
        times=tuple(times_of(group, seed=seed) for group in groups),
        speeds=tuple(speed_of(ours, other, seed=seed) for other in others),
    )


def markdown(report: Report, *, how: str = HOW) -> str:
    """`how` says what the numbers are."""
    parts = [f"# {report.title}", how.replace("\n", " "), "## Accuracy", scores_table(report)]
    kinds = [kind for kind in report.scores[0].by_type if len(report.scores[0].by_type) > 1]
    for kind in kinds:
        found = [(s.backend, s.by_type.get(kind, {})) for s in report.scores]
        parts += [f"### {kind}", _metrics_table(found)]
    if report.pairs:
        parts += ["## Differences", pairs_table(report)]
    parts += ["## Time", times_table(report)]
    if report.speeds:
        parts += ["\n".join(_speed(speed) for speed in report.speeds)]
    return "\n\n".join([*parts, "## How this was measured", provenance(report)]) + "\n"


def scores_table(report: Report) -> str:
    return _metrics_table([(s.backend, s.metrics) for s in report.scores], report.scores)


def _metrics_table(found: Sequence[tuple[str, dict[str, Interval]]], scores: Sequence[Scores] = ()) -> str:
    names = [name for name in NAMES if any(name in metrics for _, metrics in found)]
    head = ["backend", "n", *(NAMES[name] for name in names), *(["abstained", "failed"] if scores else [])]
    rows = [_metrics_row(backend, metrics, names) for backend, metrics in found]
    for row, each in zip(rows, scores, strict=False):
        row += [str(each.abstained), str(each.failed)]
    return table(head, rows)


def _metrics_row(backend: str, metrics: dict[str, Interval], names: Sequence[str]) -> list[str]:
    """A score that fewer questions have than most says over how many it is."""
    n = max((m.n for m in metrics.values()), default=0)
    found = [metrics.get(name) for name in names]
    return [backend, str(n), *(percent(m) + (f" (n = {m.n})" if m and m.n < n else "") for m in found)]


def pairs_table(report: Report) -> str:
    """In percentage points; an interval that leaves out zero is a difference."""
    names = [name for name in NAMES if any(name in pair.metrics for pair in report.pairs)]
    head = ["points", *(NAMES[name] for name in names)]
    rows = ([f"{p.ours} − {p.theirs}", *(points(p.metrics.get(name)) for name in names)] for p in report.pairs)
    return table(head, rows)


def times_table(report: Report) -> str:
    """In milliseconds, from question to answer; stages are medians."""
    stages = list(dict.fromkeys(name for t in report.times for name in t.stages))
    head = ["ms", "p50", "p95", "p99", "first draft p50", *(f"{name} p50" for name in stages), "passes, mean"]
    rows = (
        [
            t.backend,
            *(milliseconds(interval) for interval in (t.p50, t.p95, t.p99, t.first_draft)),
            *(f"{1000 * t.stages.get(name, 0.0):.1f}" for name in stages),
            f"{t.passes:.1f}",
        ]
        for t in report.times
    )
    return table(head, rows)


def provenance(report: Report) -> str:
    """Everything that is needed to do it again."""
    where = report.circumstances
    lines = [
        f"command: `{where.command}`",
        f"commit: {where.commit or 'not from a checkout'}; {where.time}",
        *(f"{name}: {value}" for name, value in report.settings.items() if not isinstance(value, dict | list)),
        "machine: " + ", ".join(f"{name} {value}" for name, value in where.machine.items()),
        "versions: " + ", ".join(f"{name} {value}" for name, value in where.versions.items()),
        *(f"{name}: {model}" for name, model in report.backends.items()),
        *(f"asked of {name}: {options}" for name, options in report.settings.get("options", {}).items()),
        *(f"prompt of {name}: {' '.join(prompt.split())}" for name, prompt in report.prompts.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _speed(speed: Speed) -> str:
    return (
        f"- {speed.ours} is {times(speed.ratio)} times as fast as {speed.theirs} (median of {speed.ratio.n} questions)"
    )
