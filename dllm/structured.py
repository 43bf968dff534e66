"""What a generator may do beyond drafting text: fill in a JSON value whose shape is given. Protocols only.

A generator has whichever fits it, or neither. A caller asks `infills` or `completes` and uses what is there.
"""

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

from .draft import Prompt

Schema = Mapping[str, Any]
"""A JSON schema of type "object", without references: `properties` of string, integer, number, boolean, enum, or array."""


@runtime_checkable
class InfillsJson(Protocol):
    """A diffusion model: the skeleton of the object is given on the canvas, only its values are masked and denoised."""

    def infill_json(self, schema: Schema, prompt: Prompt, *, max_passes: int = 16, seed: int = 0) -> dict[str, Any]:
        """An object with exactly the schema's properties, each of its type; None where the model leaves one out.

        Raises ModelError.
        """
        ...


@runtime_checkable
class CompletesJson(Protocol):
    """A hosted model with a JSON mode of its own."""

    def complete_json(self, prompt: Prompt, schema: Schema) -> dict[str, Any]:
        """An object as the backend gave it, parsed; the caller validates it. Raises ModelError."""
        ...


@runtime_checkable
class CallsTools(Protocol):
    """A hosted model with tool calls of its own."""

    def call_tools(self, prompt: Prompt, tools: Mapping[str, Schema]) -> list[tuple[str, dict[str, Any]]]:
        """The calls that the model wants, in order: a tool's name and its arguments, unvalidated; empty for none.

        `tools` maps a name to a JSON schema whose `description` says what the tool does. Raises ModelError.
        """
        ...


def infills(generator: object) -> TypeGuard[InfillsJson]:
    return isinstance(generator, InfillsJson)


def completes(generator: object) -> TypeGuard[CompletesJson]:
    return isinstance(generator, CompletesJson)


def calls_tools(generator: object) -> TypeGuard[CallsTools]:
    return isinstance(generator, CallsTools)
