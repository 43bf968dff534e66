"""Thresholds and a monotone map of confidence, fitted on questions with known answers. Asks nothing, reads no file."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..agent.calibration import Calibration
from ..agent.options import AgentOptions
from .asking import Row
from .errors import DataUnusable

LEAST = 40
"""Answers, below which nothing is fitted."""
OF_A_BIN = 20
MOST_BINS = 10
STEPS = 25
"""Thresholds of each kind that are tried: quantiles of what was seen."""


class Rule(NamedTuple):
    """When an agent abstains, beside the model's own none: see `AgentOptions`."""

    min_confidence: float = 0.0
    min_answerable: float = 0.0
    known_names: bool = False

    @classmethod
    def of(cls, options: AgentOptions) -> "Rule":
        return cls(options.min_confidence, options.min_answerable, options.known_names)

    def refuses(self, row: Row) -> bool:
        """A row that was asked without any of these."""
        unknown = self.known_names and bool(row.unheard)
        return row.abstained or unknown or row.confidence < self.min_confidence or row.answerable < self.min_answerable


class Refusal(NamedTuple):
    """Under a rule: the share refused of answerable and of unanswerable questions, F1 of the answerable, where a
    refused one counts 0, and the mean of that F1 and the unanswerable's share: what `best_rule` makes as large as it can."""

    answerable: float
    unanswerable: float
    f1: float
    balanced: float


def fitted(rows: Sequence[Row], *, source: str, known_names: bool = False) -> Calibration:
    """Of rows that were asked without a rule, for an agent that refuses unknown names or not.

    Raises DataUnusable where there are too few answers.
    """
    drafts = [row for row in rows if not row.abstained]
    if len(drafts) < LEAST:
        raise DataUnusable(f"{source}: the model answered {len(drafts)} of its questions; at least {LEAST} are needed")
    rule = best_rule(rows, known_names=known_names)
    reached = refusal(rows, rule)
    return Calibration(
        min_confidence=rule.min_confidence,
        min_answerable=rule.min_answerable,
        points=tuple(monotone([row.confidence for row in drafts], [row.scores["em"] for row in drafts])),
        fitted_on={"questions": len(rows), "answers": len(drafts), "data": source, **reached._asdict()},
    )


def best_rule(rows: Sequence[Row], *, known_names: bool = False) -> Rule:
    """The thresholds that give the largest `balanced` on these rows, of equals the lowest.

    The two kinds of questions count alike, whatever their numbers: how many a file has says nothing of how many a user
    asks.
    """
    confidences, answerables = _steps([row.confidence for row in rows]), _steps([row.answerable for row in rows])
    tried = [Rule(confidence, answerable, known_names) for confidence in confidences for answerable in answerables]
    return max(tried, key=lambda rule: (round(refusal(rows, rule).balanced, 9), -rule[0] - rule[1]))


def refusal(rows: Sequence[Row], rule: Rule) -> Refusal:
    """Of rows of both kinds."""
    sides: dict[bool, list[tuple[bool, float]]] = {True: [], False: []}
    for row in rows:
        held = rule.refuses(row)
        sides[bool(row.answers)].append((held, 0.0 if held else row.scores["f1"]))
    with_answer, without = sides[True], sides[False]
    f1 = sum(score for _, score in with_answer) / len(with_answer)
    rates = [sum(held for held, _ in side) / len(side) for side in (with_answer, without)]
    return Refusal(rates[0], rates[1], f1, (f1 + rates[1]) / 2)


def monotone(confidences: Sequence[float], right: Sequence[float]) -> list[tuple[float, float]]:
    """Points of a map that never falls: bins of as many answers each, their means pooled until they rise (isotonic
    regression, Zadrozny and Elkan, KDD 2002, over bins, so that few answers are not overfitted).

    >>> monotone([0.25] * 20 + [0.75] * 20, [0] * 10 + [1] * 10 + [1] * 20)
    [(0.25, 0.5), (0.75, 1.0)]
    """
    order = np.argsort(np.asarray(confidences), kind="stable")
    bins = np.array_split(order, max(1, min(MOST_BINS, len(order) // OF_A_BIN)))
    means = [float(np.mean([confidences[i] for i in part])) for part in bins]
    levels = pooled([float(np.mean([right[i] for i in part])) for part in bins], [len(part) for part in bins])
    points: dict[float, float] = {}
    for at, level in zip(means, levels, strict=True):
        points[round(at, 6)] = round(level, 6)  # a later bin at the same place has the higher level
    return sorted(points.items())


def pooled(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Neighbours that violate the order replaced by their weighted mean (pool adjacent violators).

    >>> pooled([1.0, 3.0, 2.0, 4.0], [1, 1, 1, 1])
    [1.0, 2.5, 2.5, 4.0]
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for value, weight in zip(values, weights, strict=True):
        block = (value, float(weight), 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, heavy, many = blocks.pop()
            total = heavy + block[1]
            block = ((mean * heavy + block[0] * block[1]) / total, total, many + block[2])
        blocks.append(block)
    return [mean for mean, _, many in blocks for _ in range(many)]


def _steps(values: Sequence[float]) -> list[float]:
    found = np.quantile(np.asarray(values), np.linspace(0, 1, STEPS))
    return sorted({0.0, *(round(float(value), 4) for value in found)})
