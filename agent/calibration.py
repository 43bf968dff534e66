"""What an agent's confidence is worth, learnt from questions with known answers: `remask eval abstention` writes it.

A small JSON file: thresholds, and a map from confidence to how often answers that confident were right.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from .console import CommandError
from .options import AgentOptions

Points = Sequence[tuple[float, float]]
"""Pairs of a confidence and what it is worth, neither ever falling; between two it is a straight line."""


class Calibration(BaseModel):
    """`options` gives an agent's options with it. The thresholds are on the confidence before the map."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["remask calibration 1"] = "remask calibration 1"
    min_confidence: float = Field(ge=0, le=1)
    min_answerable: float = Field(ge=0, le=1)
    points: tuple[tuple[float, float], ...] = ()
    fitted_on: dict[str, Any] = {}
    """The questions, the model, and what the thresholds gave on them."""

    @field_validator("points")
    @classmethod
    def _monotone(cls, points: Points) -> Points:
        if any(not (0 <= x <= 1 and 0 <= y <= 1) for x, y in points):
            raise ValueError("'points' are pairs of numbers in 0..1")
        if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(points)):
            raise ValueError("'points' must rise: a higher confidence is never worth less")
        return points

    def options(self, given: AgentOptions | None = None) -> AgentOptions:
        """The given options, or the defaults, with these thresholds and this map."""
        changed = {name: getattr(self, name) for name in ("min_confidence", "min_answerable")}
        return (given or AgentOptions()).model_copy(update=changed | {"calibration": self.points})


def read_calibration(path: Path | str) -> Calibration:
    """Raises CommandError, which names the file and the key."""
    try:
        return Calibration.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{str(path)!r} can't be read: {error}. Check the path") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise CommandError(f"{str(path)!r} is no calibration: {key}: {first['msg']}. Fit one anew") from error


def calibrated(confidence: float, points: Points) -> float:
    """Level before the first point and after the last; the confidence itself where there are none.

    >>> calibrated(0.5, [(0.4, 0.2), (0.6, 0.4)]), calibrated(0.9, [(0.4, 0.2), (0.6, 0.4)]), calibrated(0.5, [])
    (0.3, 0.4, 0.5)
    """
    if not points:
        return confidence
    at = bisect_right([x for x, _ in points], confidence)
    if at in (0, len(points)):
        return points[min(at, len(points) - 1)][1]
    (x0, y0), (x1, y1) = points[at - 1], points[at]
    return round(y0 + (y1 - y0) * (confidence - x0) / (x1 - x0), 12)
