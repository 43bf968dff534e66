"""How well a number in 0..1 tells right from wrong, with bootstrap intervals. Pure functions over questions."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .interval import Interval, Values, interval_of

BINS = 10


def auroc(scores: Sequence[float], positive: Sequence[bool], *, seed: int = 0) -> Interval:
    """The chance that a positive has the higher score, ties counting half: the area under the ROC curve. A resample
    without one of the two counts 0.5. Source: Fawcett, Pattern Recognition Letters 27, 2006.

    >>> auroc([0.1, 0.4, 0.4, 0.9], [False, True, False, True]).value
    0.875
    """
    _, place = np.unique(np.asarray(scores, dtype=np.float64), return_inverse=True)
    size = int(place.max()) + 1

    def statistic(places: Values, labels: Values) -> Values:
        rows = len(places)
        cell = (np.arange(rows)[:, None] * size + places.astype(np.int64)).ravel()
        high = np.bincount(cell, labels.ravel(), rows * size).reshape(rows, size)
        low = np.bincount(cell, 1 - labels.ravel(), rows * size).reshape(rows, size)
        below = np.cumsum(low, axis=1) - low / 2
        pairs = high.sum(axis=1) * low.sum(axis=1)
        won = (high * below).sum(axis=1)
        return np.where(pairs > 0, won / np.maximum(pairs, 1), 0.5)

    return interval_of([place.astype(np.float64), np.asarray(positive, dtype=np.float64)], statistic, seed)


def selective_risks(scores: Sequence[float], losses: Sequence[float]) -> npt.NDArray[np.float64]:
    """The mean loss of the k highest-scored, for k from 1 on; within a tie, in the mean over its orders. Source: Geifman
    and El-Yaniv, NeurIPS 2017.

    >>> [round(float(risk), 6) for risk in selective_risks([0.9, 0.5, 0.5], [0.0, 1.0, 0.0])]
    [0.0, 0.25, 0.333333]
    """
    return _risks(np.asarray(scores, dtype=np.float64), np.asarray(losses, dtype=np.float64))


def area_under_risks(scores: Sequence[float], losses: Sequence[float], *, seed: int = 0) -> Interval:
    """The mean of the selective risks: 0 is best."""
    return _of_pairs(scores, losses, lambda s, loss: float(_risks(s, loss).mean()), seed)


def calibration_error(confidences: Sequence[float], right: Sequence[float], *, seed: int = 0) -> Interval:
    """ECE over bins of (nearly) as many answers each, equal confidences in one bin: the mean distance between confidence
    and the share that is right. Source: Naeini et al., AAAI 2015; equal-mass bins after Nixon et al., CVPR
    workshops 2019. The interval of a resampled distance lies somewhat high.

    >>> round(calibration_error([0.8] * 4, [1, 1, 0, 0]).value, 6)
    0.3
    """
    return _of_pairs(confidences, right, _gap, seed)


def _gap(confidence: Values, right: Values) -> float:
    # Equal confidences share a bin, or the order of the rows would count.
    n = len(confidence)
    bin_of = np.searchsorted(np.sort(confidence), confidence, side="left") * BINS // n
    sums = np.bincount(bin_of, confidence - right)
    return float(np.abs(sums).sum()) / n


def _risks(scores: Values, losses: Values) -> npt.NDArray[np.float64]:
    _, place, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    means = np.bincount(place, losses, len(counts)) / counts
    level = np.repeat(means, counts)
    return np.asarray(np.cumsum(level) / np.arange(1, len(level) + 1), dtype=np.float64)


def _of_pairs(
    first: Sequence[float], second: Sequence[float], statistic: Callable[[Values, Values], float], seed: int
) -> Interval:
    columns = [np.asarray(side, dtype=np.float64) for side in (first, second)]

    def each(ones: Values, others: Values) -> Values:
        return np.array([statistic(one, other) for one, other in zip(ones, others, strict=True)])

    return interval_of(columns, each, seed)
