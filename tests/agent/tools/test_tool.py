"""A function as a tool: its schema, what it refuses, what becomes of a result."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from remask.agent import SchemaUnusable, Tool, ToolFailed
from remask.agent.tools.skeleton import Skeleton
from remask.agent.tools.tool import rendered


def book(
    room: Annotated[str, Field(pattern=r"[A-Z]\d{2}", description="the room's number")],
    people: int,
    size: Literal["small", "large"] = "small",
) -> str:
    """Book a meeting room.

    Only this paragraph says more.
    """
    return f"{room} for {people}, {size}"


def test_a_signature_becomes_a_schema() -> None:
    assert Tool(book).schema == {
        "type": "object",
        "description": "Book a meeting room.",
        "properties": {
            "room": {"type": "string", "pattern": r"[A-Z]\d{2}", "description": "the room's number"},
            "people": {"type": "integer"},
            "size": {"enum": ["small", "large"]},
        },
        "required": ["room", "people"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"room": "B12"}, "people"),
        ({"room": "12", "people": 3}, "room"),
        ({"room": "B12", "people": "many"}, "people"),
        ({"room": "B12", "people": 3, "size": "huge"}, "size"),
        ({"room": "B12", "people": 3, "force": True}, "force"),
    ],
)
def test_arguments_that_do_not_fit_are_named_and_the_function_is_not_called(arguments: Any, said: str) -> None:
    called: list[Any] = []
    tool = Tool(book)
    tool._function = lambda **given: called.append(given)
    with pytest.raises(ToolFailed, match=said):
        tool.call(arguments)
    assert called == []


def test_a_tool_that_breaks_has_failed_and_says_how() -> None:
    def broken(number: int) -> None:
        """Divide by nothing."""
        raise ZeroDivisionError("by nothing")

    with pytest.raises(ToolFailed, match="broken failed: ZeroDivisionError: by nothing"):
        Tool(broken).call({"number": 1})


def untyped(x):  # type: ignore[no-untyped-def]
    """Do."""


def starred(*things: str) -> None:
    """Do."""


def silent(x: int) -> None: ...


async def later(x: int) -> None:
    """Do."""


def odd(x: dict[str, int]) -> None:
    """Do."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (untyped, "'x' of 'untyped' has no type"),
        (starred, r"takes '\*things"),
        (silent, "says nowhere what it does"),
        (later, "is async"),
        (odd, r"odd\.x is of type dict"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_with_the_way_out(function: Any, said: str) -> None:
    with pytest.raises(SchemaUnusable, match=said):
        Tool(function)


@pytest.mark.parametrize("name", ["search", "a b", "", "1st", "x" * 65, "a;drop"])
def test_a_name_that_no_model_could_say_is_refused(name: str) -> None:
    function = book if name else (lambda x: x)
    with pytest.raises(SchemaUnusable, match="can't be a tool's name"):
        Tool(function, name=name, description="Do.")


@dataclass
class Order:
    order_id: str
    parts: list[str]


class Parcel(BaseModel):
    weight_kg: float
    note: str | None = None


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, ""),
        ("It is on its way.", "It is on its way."),
        (7, "7"),
        ({"state": "shipped", "note": None}, "State: shipped."),
        (Order("AB-1", ["mast", "sail"]), 'Order id: AB-1.\nParts: ["mast", "sail"].'),
        (Parcel(weight_kg=2.5), "Weight kg: 2.5."),
        ([{"a": 1}, {"a": 2}], "A: 1.\n\nA: 2."),
        ([], ""),
    ],
)
def test_a_result_is_text_that_can_be_quoted(result: Any, text: str) -> None:
    assert rendered(result) == text


@given(
    st.text(max_size=20),
    st.dictionaries(
        st.text(max_size=10),
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
        | st.lists(st.text(), max_size=3),
        max_size=5,
    ),
)  # fmt: skip
def test_a_filled_skeleton_is_always_the_call_whatever_the_values_hold(tool: str, values: dict[str, Any]) -> None:
    skeleton = Skeleton.of_call(tool, values)
    assert skeleton.filled(values) == {"name": tool, "arguments": values}
    assert json.loads(skeleton.masked(values)) == {"name": tool, "arguments": values}
    assert skeleton.masked().count("▒") - sum(key.count("▒") for key in [tool, *values]) == len(values)
