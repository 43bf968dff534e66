"""How sure a number is: 95% percentile bootstrap over questions. Pure functions, seeded.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; paired: Berg-Kirkpatrick et al., EMNLP 2012.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

RESAMPLES = 10_000
_CELLS = 2_000_000  # of one block of resamples, so that memory stays small

Values = npt.NDArray[np.float64]
Statistic = Callable[[Values], Values]
"""From a block of samples, a row each, to a number a row."""


class Interval(BaseModel):
    """A number over `n` questions, with the bounds of its 95% interval. With one question the bounds are the number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    low: float
    high: float
    n: int = Field(ge=1)

    @property
    def apart(self) -> bool:
        """Of a difference: whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def mean(values: Sequence[float], *, seed: int = 0) -> Interval:
    """
    >>> mean([0.25, 0.25])
    Interval(value=0.25, low=0.25, high=0.25, n=2)
    """
    return interval_of([np.asarray(values, dtype=np.float64)], lambda sample: sample.mean(axis=1), seed)


def difference(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> Interval:
    """Of the means, both of the same questions in the same order: each resample takes the same questions from both."""
    assert len(ours) == len(theirs)
    return mean(list(np.subtract(ours, theirs)), seed=seed)


def quantile(values: Sequence[float], q: float, *, seed: int = 0) -> Interval:
    """
    >>> quantile([1, 2, 9], 0.5).value
    2.0
    """
    return interval_of([np.asarray(values, dtype=np.float64)], lambda sample: np.quantile(sample, q, axis=1), seed)


def rate(amounts: Sequence[float], per: Sequence[float], *, seed: int = 0) -> Interval:
    """The sum of one over the sum of the other, such as tokens a second.

    >>> rate([2, 4], [1, 2]).value
    2.0
    """
    assert len(amounts) == len(per)
    both = [np.asarray(side, dtype=np.float64) for side in (amounts, per)]
    return interval_of(both, lambda amount, each: amount.sum(axis=1) / each.sum(axis=1), seed)


def median_ratio(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> Interval:
    """Median of `theirs` over median of `ours`: how many times as fast we are, both on the same questions.

    >>> median_ratio([1, 1, 2], [10, 10, 10]).value
    10.0
    """
    assert len(ours) == len(theirs)
    both = [np.asarray(side, dtype=np.float64) for side in (ours, theirs)]
    return interval_of(both, lambda mine, other: np.median(other, axis=1) / np.median(mine, axis=1), seed)


def interval_of(columns: Sequence[Values], statistic: Callable[..., Values], seed: int) -> Interval:
    """Of any statistic of columns, a value a question in each: each resample takes the same questions from all."""
    n = len(columns[0])
    if not n:
        raise ValueError("an interval needs at least one value")
    drawn = [statistic(*(column[block] for column in columns)) for block in _resamples(n, seed)]
    low, high = np.percentile(np.concatenate(drawn), (2.5, 97.5))
    whole = statistic(*(column[None] for column in columns))
    return Interval(value=_short(whole[0]), low=_short(low), high=_short(high), n=n)


def _resamples(n: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Blocks of rows of `n` positions, drawn with replacement."""
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for begin in range(0, RESAMPLES, step):
        yield random.integers(0, n, (min(step, RESAMPLES - begin), n))


def _short(value: np.float64) -> float:
    """Rounded, so that the last bits of a sum don't depend on the machine."""
    return round(float(value), 6)
