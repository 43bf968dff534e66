"""Calibrations: a file that agents load, and what it does to their confidence."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.agent.calibration import Calibration, calibrated, read_calibration
from remask.agent.console import CommandError
from remask.agent.options import AgentOptions
from remask.dllm.draft import Draft, Source, Token
from remask.dllm.scripted import ScriptedGenerator

from .shelf import MIRA, over

POINTS = ((0.2, 0.1), (0.6, 0.5), (0.8, 0.5))


@pytest.mark.parametrize(
    ("confidence", "worth"), [(0.0, 0.1), (0.2, 0.1), (0.4, 0.3), (0.6, 0.5), (0.7, 0.5), (0.8, 0.5), (1.0, 0.5)]
)
def test_between_points_is_a_straight_line_and_outside_it_is_level(confidence: float, worth: float) -> None:
    assert calibrated(confidence, POINTS) == pytest.approx(worth)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=6), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_confidence_is_never_worth_less(pairs: list[tuple[float, float]], one: float, other: float) -> None:
    points = list(zip(sorted({x for x, _ in pairs}), sorted(y for _, y in pairs), strict=False))
    low, high = sorted((one, other))
    assert 0 <= calibrated(low, points) <= calibrated(high, points) + 1e-9 <= 1 + 1e-9


def test_a_calibration_goes_through_a_file_into_options(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    made = Calibration(min_confidence=0.3, min_answerable=0.4, points=POINTS, fitted_on={"questions": 9})
    path.write_text(made.model_dump_json(), encoding="utf-8")
    options = read_calibration(path).options(AgentOptions(seed=7))
    assert (options.min_confidence, options.min_answerable, options.seed) == (0.3, 0.4, 7)
    assert options.calibration == POINTS


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"points": [[0.5, 0.5], [0.4, 0.6]]}, "points: Value error, 'points' must rise"),
        ({"points": [[0.5, 0.5], [0.6, 0.4]]}, "'points' must rise"),
        ({"points": [[0.5, 1.5]]}, "pairs of numbers in 0..1"),
        ({"min_confidence": 2}, "min_confidence: Input should be less than"),
        ({"format": "other"}, "format: Input should be 'remask calibration 1'"),
        ({"extra": 1}, "extra: Extra inputs"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_by_key(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = tmp_path / "c.json"
    good = json.loads(Calibration(min_confidence=0.3, min_answerable=0.4).model_dump_json())
    path.write_text(json.dumps(good | change), encoding="utf-8")
    with pytest.raises(CommandError) as error:
        read_calibration(path)
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be read"):
        read_calibration(tmp_path / "none.json")


def test_an_answer_tells_the_calibrated_confidence_and_thresholds_stay_on_the_raw_one() -> None:
    model = ScriptedGenerator([Draft("Mira Holt", (Token(0, 9, 0.9, Source(0, 0, 9)),), confidence=0.9)])
    calibration = Calibration(min_confidence=0.5, min_answerable=0.0, points=((0.0, 0.25), (1.0, 0.25)))
    answer = over([MIRA], model, **calibration.options().model_dump()).ask("Who restored the fresco?")
    assert (answer.text, answer.confidence) == ("Mira Holt", 0.25)
