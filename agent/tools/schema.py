"""Slots read from a JSON schema, for tools and answers that come without Python types. What can't be filled is text."""

from collections.abc import Mapping
from typing import Any

from ..errors import SchemaUnusable
from .slot import Kind, Slot

_KINDS: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_FORMATS: dict[str, Kind] = {"date": "date", "date-time": "datetime"}


def slots_of(schema: Mapping[str, Any]) -> tuple[Slot, ...]:
    """In the order of the properties. Raises SchemaUnusable for a schema that is not of an object.

    >>> slots_of({"properties": {"n": {"type": "integer"}}, "required": ["n"]})[0].kind
    'integer'
    """
    properties = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(properties, Mapping):
        raise SchemaUnusable(f"the schema {str(schema)[:80]!r} is not of an object. Give one with properties")
    required = schema.get("required", [])
    return tuple(_slot(name, _resolved(said, schema), required=name in required) for name, said in properties.items())


def _slot(name: str, said: Mapping[str, Any], *, required: bool) -> Slot:
    inner, null = _without_null(said)
    many = inner.get("type") == "array"
    item = inner.get("items", {}) if many else inner
    enum = item.get("enum") or ([item["const"]] if "const" in item else [])
    kind = _FORMATS.get(str(item.get("format")), _KINDS.get(str(item.get("type")), "text"))
    return Slot(
        name=name,
        description=str(said.get("description") or inner.get("description") or ""),
        kind="choice" if enum else kind,
        required=required and not null and "default" not in said,
        many=many,
        pattern=str(item.get("pattern") or ""),
        choices=tuple((str(value), value) for value in enum),
    )


def _without_null(said: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    options = [one for one in said.get("anyOf", []) if one.get("type") != "null"]
    if "anyOf" in said:
        return (options[0] if options else {}), len(options) < len(said["anyOf"])
    kinds = said.get("type")
    if isinstance(kinds, list):
        kept = [kind for kind in kinds if kind != "null"]
        return {**said, "type": kept[0] if kept else "string"}, "null" in kinds
    return said, False


def _resolved(said: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """One step of a reference into the schema's own definitions, as pydantic writes them for enums."""
    target = str(said.get("$ref", "")).removeprefix("#/$defs/")
    known = schema.get("$defs", {})
    return {**known[target], **said} if target and target in known else said
