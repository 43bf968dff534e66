"""Values of a type in a text, against values written down by hand and against Python's own formatting."""

from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.agent.tools.slot import Slot
from remask.agent.tools.values import found, read


def slot(kind: Any, **more: Any) -> Slot:
    return Slot("x", "", kind, True, **more)


STATES = tuple((state, state) for state in ("shipped", "not shipped", "lost"))


@pytest.mark.parametrize(
    ("kind", "text", "values"),
    [
        ("integer", "12 of 1,200 people, 3.5 km and -7", [12, 1200, -7]),
        ("integer", "twenty-one of two million", [21, 2_000_000]),
        ("integer", "T-40 and EN-12 and v2", []),
        ("number", "3.5 % of 2 million", [3.5, 2e6]),
        ("number", "1.250,5", []),
        ("boolean", "No, yes, nowhere", [False, True]),
        ("date", "on 3 May 2021 or 2020-02-30", [date(2021, 5, 3)]),
        ("datetime", "3 May 2021 at 14:05, or 2020-01-02", [datetime(2021, 5, 3, 14, 5), datetime(2020, 1, 2)]),
    ],
)
def test_values_are_found_with_their_type(kind: str, text: str, values: list[Any]) -> None:
    assert [one.value for one in found(slot(kind), text)] == values


def test_a_longer_choice_is_not_read_as_a_shorter_one_inside_it() -> None:
    assert [f.value for f in found(slot("choice", choices=STATES), "Not shipped, then lost")] == ["not shipped", "lost"]


def test_a_pattern_is_found_as_a_word_of_its_own() -> None:
    order = slot("text", pattern=r"^[A-Z]{2}-\d{5}$")
    assert [f.value for f in found(order, "AB-12345, XAB-12345, AB-123456, AB-12345-X and (CD-00001)")] == [
        "AB-12345",
        "CD-00001",
    ]


def test_two_different_values_say_none() -> None:
    assert read(slot("integer"), "2 or 3") is None
    assert read(slot("integer"), "2, or 2") is not None


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{}", "{:,}", "about {} m", "({})"]))
def test_a_number_is_read_as_it_was_written(number: int, form: str) -> None:
    value = read(slot("integer"), form.format(number))
    assert value is not None
    assert value.value == number


@given(st.sampled_from(["integer", "number", "boolean", "date", "datetime", "text"]), st.text(max_size=200))
def test_any_text_is_taken_and_spans_lie_in_it(kind: str, text: str) -> None:
    assert all(0 <= f.start < f.end <= len(text) for f in found(slot(kind), text))
