"""A Python function as a tool: its typed signature is the schema, its result becomes a document. Knows no question."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from ...retrieval.document import Document
from ..errors import SchemaUnusable, ToolFailed
from .slot import Slot, json_schema, slots

SEARCH = "search"
"""The name of the agent's own tool: finding passages."""
LONGEST_RESULT = 20_000
_LONGEST_NAME = 64


class Tool:
    """A function that an agent may call.

    The description is the docstring's first paragraph. `Annotated[str, Field(pattern=..., description=...)]` says what an
    argument looks like.

    >>> def double(number: int) -> int:
    ...     '''Double a number.'''
    ...     return 2 * number
    >>> Tool(double).call({"number": "4"}), Tool(double).schema["required"]
    (8, ['number'])
    """

    def __init__(self, function: Callable[..., Any], *, name: str = "", description: str = "") -> None:
        """Raises SchemaUnusable for a function without annotations, without a description, or that is async."""
        self.name = name or getattr(function, "__name__", "")
        self._function = function
        if not self.name.isidentifier() or len(self.name) > _LONGEST_NAME or self.name == SEARCH:
            raise SchemaUnusable(
                f"{self.name!r} can't be a tool's name. Give name=..., a Python identifier not {SEARCH!r}"
            )
        if inspect.iscoroutinefunction(function):
            raise SchemaUnusable(f"the tool {self.name!r} is async. Give a plain function")
        self.description = description or " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
        if not self.description:
            raise SchemaUnusable(f"the tool {self.name!r} says nowhere what it does. Give it a docstring")
        self.arguments = _arguments(function, self.name)
        self.slots: tuple[Slot, ...] = slots(self.arguments)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments, with the tool's description."""
        return {**json_schema(self.slots), "description": self.description}

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function will get them. Raises ToolFailed, naming each that does not fit."""
        try:
            model = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolFailed(f"{self.name} can't be called so: {told(error)}") from error
        return {name: getattr(model, name) for name in type(model).model_fields}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """What the function returns for these arguments, after they were validated. Raises ToolFailed."""
        given = self.checked(arguments)
        try:
            return self._function(**given)
        except ToolFailed:
            raise
        except Exception as error:
            # A tool is somebody else's code: what it can't do is told, and the question goes on without it.
            raise ToolFailed(f"{self.name} failed: {type(error).__name__}: {error}") from error

    def document(self, result: Any) -> Document | None:
        """The result as evidence; None where there is none."""
        text = rendered(result)[:LONGEST_RESULT]
        return Document(id=f"tool:{self.name}", title=self.title, text=text) if text.strip() else None


def rendered(result: Any) -> str:
    """A result as text that can be quoted: a line for each field.

    >>> rendered([{"order_id": "AB-1", "state": "shipped"}])
    'Order id: AB-1.\\nState: shipped.'
    """
    if result is None:
        return ""
    if isinstance(result, BaseModel):
        return rendered(result.model_dump(mode="json"))
    if is_dataclass(result) and not isinstance(result, type):
        return rendered(asdict(result))
    if isinstance(result, Mapping):
        return "\n".join(_line(str(key), value) for key, value in result.items() if value is not None)
    if isinstance(result, Sequence) and not isinstance(result, str | bytes):
        return "\n\n".join(filter(None, map(rendered, result)))
    return str(result)


def told(error: ValidationError) -> str:
    """A validation error on one line."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'value'}: {e['msg']}" for e in error.errors(include_url=False))


def _line(key: str, value: Any) -> str:
    name = key.replace("_", " ")
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    stop = "" if said.rstrip().endswith((".", "!", "?")) else "."
    return f"{name[:1].upper()}{name[1:]}: {said}{stop}"


def _arguments(function: Callable[..., Any], name: str) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SchemaUnusable(
                f"{name!r} takes {str(parameter)!r}, which can't be given by name. Use plain arguments"
            )
        if parameter.name not in hints:
            raise SchemaUnusable(f"the argument {parameter.name!r} of {name!r} has no type. Annotate it")
        default = parameter.default
        required = default is parameter.empty
        fields[parameter.name] = (hints[parameter.name], ... if required else _default(default))
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)


def _default(value: Any) -> FieldInfo | Any:
    return value if isinstance(value, FieldInfo) else Field(default=value)
