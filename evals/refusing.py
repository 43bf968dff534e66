"""What one backend's confidence is worth, and whom it refuses, from its rows. Pure functions; asks nothing."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict

from ..agent.calibration import Calibration, calibrated
from ..agent.options import AgentOptions
from .asking import Row
from .certainty import area_under_risks, auroc, calibration_error, selective_risks
from .fit import Rule, refusal
from .interval import Interval, mean

COVERAGES = range(5, 101, 5)


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Refusals(Record):
    """What is refused under one rule. `balanced` is the mean of F1 over answerable questions, a refused one
    counting 0, and the share of unanswerable ones that are refused."""

    rule: str
    min_confidence: float
    min_answerable: float
    known_names: bool
    answerable: Interval
    unanswerable: Interval
    f1: Interval
    balanced: float


class Certainty(Record):
    """Of one backend. `auroc` is by the number that should tell answerable from unanswerable; `auroc_right` is of
    confidence telling right answers from wrong ones. `risks` pairs a coverage in percent with the mean of 1 − F1."""

    backend: str
    drafts: int
    auroc: dict[str, Interval]
    auroc_right: Interval | None
    area_under_risks: Interval | None
    risks: tuple[tuple[int, Interval], ...]
    ece: Interval | None
    ece_calibrated: Interval | None
    refusals: tuple[Refusals, ...]
    calibration: Calibration | None


def certainty(rows: Sequence[Row], defaults: AgentOptions, calibration: Calibration | None, *, seed: int) -> Certainty:
    """Of the rows of one backend that were asked without thresholds."""
    has_answer = [bool(row.answers) for row in rows]
    numbers = {
        "confidence": [_confidence(row) for row in rows],
        "answerable": [row.answerable for row in rows],
        "confidence × answerable": [_confidence(row) * row.answerable for row in rows],
    }
    drafts = [row for row in rows if not row.abstained]
    sure, right = [row.confidence for row in drafts], [row.scores["em"] for row in drafts]
    losses = [1 - row.scores["f1"] for row in drafts]
    return Certainty(
        backend=rows[0].backend,
        drafts=len(drafts),
        auroc={name: auroc(values, has_answer, seed=seed) for name, values in numbers.items()},
        auroc_right=auroc(sure, [value == 1 for value in right], seed=seed) if 0 < sum(right) < len(right) else None,
        area_under_risks=area_under_risks(sure, losses, seed=seed) if drafts else None,
        risks=tuple(_curve(sure, losses, len(rows), seed=seed)),
        ece=calibration_error(sure, right, seed=seed) if drafts else None,
        ece_calibrated=(
            calibration_error([calibrated(one, calibration.points) for one in sure], right, seed=seed)
            if drafts and calibration
            else None
        ),
        refusals=tuple(_refusals(rows, defaults, calibration, seed=seed)),
        calibration=calibration,
    )


def _refusals(
    rows: Sequence[Row], defaults: AgentOptions, calibration: Calibration | None, *, seed: int
) -> Iterator[Refusals]:
    rules = {"the model's own none": Rule(), "default": Rule.of(defaults)}
    if calibration:
        rules["calibrated"] = Rule.of(calibration.options(defaults))
    for name, rule in rules.items():
        held = {kind: [rule.refuses(r) for r in rows if bool(r.answers) is kind] for kind in (True, False)}
        f1 = [0.0 if rule.refuses(r) else r.scores["f1"] for r in rows if r.answers]
        yield Refusals(
            rule=name,
            min_confidence=rule.min_confidence,
            min_answerable=rule.min_answerable,
            known_names=rule.known_names,
            answerable=mean(held[True], seed=seed),
            unanswerable=mean(held[False], seed=seed),
            f1=mean(f1, seed=seed),
            balanced=round(refusal(rows, rule).balanced, 6),
        )


def _curve(sure: Sequence[float], losses: Sequence[float], asked: int, *, seed: int) -> Iterator[tuple[int, Interval]]:
    """Up to the share of questions that have a draft. The intervals are of the mean loss of the drafts answered there."""
    if not sure:
        return
    risks = selective_risks(sure, losses)
    ranked = [loss for _, loss in sorted(zip(sure, losses, strict=True), key=lambda pair: -pair[0])]
    for coverage in COVERAGES:
        many = round(asked * coverage / 100)
        if 0 < many <= len(ranked):
            spread = mean(ranked[:many], seed=seed)
            value = round(float(risks[many - 1]), 6)
            low, high = min(spread.low, value), max(spread.high, value)
            yield coverage, spread.model_copy(update={"value": value, "low": low, "high": high})


def _confidence(row: Row) -> float:
    return 0.0 if row.abstained else row.confidence
