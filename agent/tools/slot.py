"""One typed value to be found: what an argument of a tool or a field of a schema must be. From types, by pydantic."""

import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from ..errors import SchemaUnusable

Kind = Literal["text", "integer", "number", "boolean", "choice", "date", "datetime"]
_KINDS: dict[Any, Kind] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    date: "date",
    datetime: "datetime",
}

_JSON: dict[Kind, dict[str, str]] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "choice": {},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True, slots=True)
class Slot:
    """`choices` maps what may be said to the value it stands for. `many`: a list of such values."""

    name: str
    description: str
    kind: Kind
    required: bool
    many: bool = False
    pattern: str = ""
    choices: tuple[tuple[str, Any], ...] = ()

    @property
    def phrase(self) -> str:
        """What it is called in a question: its description, else its name in words.

        >>> Slot("wave_height_m", "", "number", True).phrase
        'wave height m'
        """
        return self.description.strip().rstrip(".") or self.name.replace("_", " ").strip()


def json_schema(wanted: Iterable[Slot], *, nullable: bool = False) -> dict[str, Any]:
    """Of an object with these values, without references. `nullable`: each may be left out with null.

    >>> json_schema([Slot("n", "how many", "integer", True)])["properties"]
    {'n': {'type': 'integer', 'description': 'how many'}}
    """
    listed = tuple(wanted)
    return {
        "type": "object",
        "properties": {slot.name: _property(slot, nullable) for slot in listed},
        "required": [slot.name for slot in listed if slot.required or nullable],
        "additionalProperties": False,
    }


def slots(model: type[BaseModel]) -> tuple[Slot, ...]:
    """In the order of the model. Raises SchemaUnusable for a type that can't be pointed at, naming the field."""
    return tuple(_slots(model))


def _property(slot: Slot, nullable: bool) -> dict[str, Any]:
    said: dict[str, Any] = dict(_JSON[slot.kind])
    if slot.choices:
        said["enum"] = list(dict.fromkeys(to_jsonable_python(value) for _, value in slot.choices))
    if slot.pattern:
        said["pattern"] = slot.pattern
    if slot.many:
        said = {"type": "array", "items": said}
    if nullable:
        said = {"anyOf": [said, {"type": "null"}]}
    return {**said, "description": slot.description} if slot.description else said


def _slots(model: type[BaseModel]) -> Iterator[Slot]:
    for name, field in model.model_fields.items():
        inner, optional = _without_none(field.annotation)
        many = get_origin(inner) in (list, tuple, set, frozenset)
        if many:
            inner = get_args(inner)[0] if get_args(inner) else str
        kind, choices = _kind(inner, name, model)
        yield Slot(
            name=name,
            description=field.description or "",
            kind=kind,
            required=field.is_required() and not optional,
            many=many,
            pattern=_pattern(field, name),
            choices=choices,
        )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [one for one in get_args(annotation) if one is not type(None)]
        return (kept[0] if len(kept) == 1 else annotation), len(kept) < len(get_args(annotation))
    return annotation, False


def _kind(annotation: Any, name: str, model: type[BaseModel]) -> tuple[Kind, tuple[tuple[str, Any], ...]]:
    if get_origin(annotation) is Literal:
        return "choice", tuple((str(value), value) for value in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        named = [(member.name.replace("_", " ").casefold(), member) for member in annotation]
        said = [(str(member.value), member) for member in annotation]
        return "choice", tuple(dict([*named, *said]).items())
    if annotation in _KINDS:
        return _KINDS[annotation], ()
    raise SchemaUnusable(
        f"{model.__name__}.{name} is of type {annotation!r}, for which no value can be found. Use str, int, float, bool,"
        " date, datetime, a Literal or an Enum, one of these or None, or a list of them"
    )


def _pattern(field: FieldInfo, name: str) -> str:
    for constraint in field.metadata:
        if pattern := getattr(constraint, "pattern", None):
            text = pattern.pattern if isinstance(pattern, re.Pattern) else str(pattern)
            try:
                re.compile(text)
            except re.error as error:
                raise SchemaUnusable(f"the pattern {text!r} of {name!r} can't be searched for: {error}") from error
            return text
    return ""
