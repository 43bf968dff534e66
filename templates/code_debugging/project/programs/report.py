"""A report over readings that come as a stream."""

from collections.abc import Iterable


def summary(readings: Iterable[float]) -> dict[str, float]:
    """How many readings, their mean and the largest; all 0 where there are none."""
    count = sum(1 for _ in readings)
    if not count:
        return {"count": 0, "mean": 0.0, "largest": 0.0}
    values = list(readings)
    return {"count": count, "mean": sum(values) / count, "largest": max(values, default=0.0)}
