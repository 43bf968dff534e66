"""The JSON of a call or an object with its values masked: the frame is given, so whatever is filled in, it is well-formed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

BLOCK = "▒"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """`frame` has one more piece than there are `names`: text before, between and behind the values."""

    frame: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of_call(cls, tool: str, names: Iterable[str]) -> "Skeleton":
        return cls._around(f'{{"name": {json.dumps(tool)}, "arguments": {{', names, "}}")

    @classmethod
    def of_object(cls, names: Iterable[str]) -> "Skeleton":
        return cls._around("{", names, "}")

    @classmethod
    def _around(cls, before: str, names: Iterable[str], after: str) -> "Skeleton":
        """A comma behind each value but the last."""
        listed = tuple(names)
        keys = [f"{json.dumps(name, ensure_ascii=False)}: " for name in listed]
        pieces = [f"{', ' if at else before}{key}" for at, key in enumerate(keys)]
        return cls((*pieces, after), listed) if listed else cls((before + after,), ())

    def masked(self, values: Mapping[str, Any] | None = None) -> str:
        """
        >>> Skeleton.of_call("add", ["a", "b"]).masked({"a": 1})
        '{"name": "add", "arguments": {"a": 1, "b": ▒}}'
        """
        known = values or {}
        said = [_json(known[name]) if name in known else BLOCK for name in self.names]
        return "".join(part for pair in zip(self.frame, [*said, ""], strict=True) for part in pair)

    def filled(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The object. Every name needs a value, which may be None."""
        assert set(values) == set(self.names), "every slot is filled, and no other"
        read: dict[str, Any] = json.loads(self.masked(values))
        return read


def _json(value: Any) -> str:
    return json.dumps(to_jsonable_python(value), ensure_ascii=False, allow_nan=False)
