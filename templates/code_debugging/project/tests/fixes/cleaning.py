"""Cleaning lists of readings."""


def without_gaps(readings: list[float | None]) -> list[float]:
    """The readings that are there, in order; the list is cleaned in place and returned."""
    for reading in list(readings):
        if reading is None:
            readings.remove(reading)
    return readings  # type: ignore[return-value]


def clipped(readings: list[float], most: float) -> list[float]:
    """No reading larger than `most`."""
    return [min(reading, most) for reading in readings]
