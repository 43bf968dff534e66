"""Checks exercise 9. Skipped until you begin; a wrong answer fails."""

import json

import pytest


def test_values_keep_their_types(ex) -> None:
    filled = ex.fill_skeleton('{"name": ▒, "beds": ▒, "dogs": ▒}', ["Skarodden", 5, True])
    assert json.loads(filled) == {"name": "Skarodden", "beds": 5, "dogs": True}


@pytest.mark.parametrize("value", ['"}, "admin": true, {"', "▒", "line\nbreak", "\\", ""])
def test_no_value_can_leave_its_hole(ex, value: str) -> None:
    assert json.loads(ex.fill_skeleton('{"a": ▒, "b": ▒}', [value, None])) == {"a": value, "b": None}


def test_as_many_values_as_holes(ex) -> None:
    with pytest.raises(ValueError, match="2"):
        ex.fill_skeleton('{"a": ▒, "b": ▒}', ["only one"])
