"""One request to a chat model, and its body in each dialect. Sends nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .endpoint import Endpoint

Json = Mapping[str, Any]

# What a server may do without, and the words that its refusal uses for it.
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "response_format": ("json_schema", "json_object", "structured output", "structured outputs", "grammar", "guided"),
    "logprobs": ("log probabilities", "logprob"),
    "stream_options": ("include_usage",),
    "temperature": (),
    "seed": (),
    "reasoning_effort": (),
    "diffusing": (),
    "tool_choice": (),
    "max_tokens": (),
    "max_completion_tokens": (),
}
SYSTEM = "system"
"""Stands among the refused fields for turns of the system, which some chat templates don't know."""
_OTHER_LENGTH = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """`candidate` counts from 0; those after the first are drawn at a higher temperature and another seed."""

    messages: Sequence[Mapping[str, Any]]
    candidate: int = 0
    seed: int = 0
    streamed: bool = True
    tools: tuple[Json, ...] = ()
    tool_choice: str = "auto"
    schema: Json | None = None
    """What the answer has to be, as a JSON schema."""
    max_tokens: int | None = None


def body(ask: Ask, endpoint: Endpoint, refused: frozenset[str] = frozenset()) -> dict[str, Any]:
    """What is sent. `refused`: optional fields that this server does not take."""
    dialect = endpoint.dialect
    length = ask.max_tokens or dialect.max_tokens
    effort = (dialect.tool_effort or dialect.effort) if ask.tools else dialect.effort
    drafting = ask.streamed and not ask.tools and ask.schema is None
    fields: dict[str, Any] = {
        "model": endpoint.model,
        "messages": _without_system(ask.messages) if SYSTEM in refused else list(ask.messages),
        "stream": ask.streamed,
        "stream_options": {"include_usage": True} if ask.streamed else None,
        "temperature": dialect.temperatures[min(ask.candidate, 1)],
        "seed": ask.seed + ask.candidate if dialect.seeds else None,
        "logprobs": True if dialect.logprobs and drafting else None,
        "reasoning_effort": effort,
        "diffusing": True if dialect.diffusing and drafting else None,
        "tools": list(ask.tools) or None,
        "tool_choice": _choice(ask.tool_choice) if ask.tools else None,
        "response_format": _format(ask.schema) if ask.schema is not None else None,
        _length_field(dialect.length_field, refused): length,
    }
    return {name: value for name, value in fields.items() if value is not None and name not in refused}


def _length_field(preferred: str, refused: frozenset[str]) -> str:
    """A server that knows only the other name for the longest answer is told that one."""
    return _OTHER_LENGTH[preferred] if preferred in refused else preferred


def _choice(name: str) -> str | Json:
    return name if name in ("auto", "none", "required") else {"type": "function", "function": {"name": name}}


def _format(schema: Json) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": _closed(schema), "schema": schema}}


def _closed(schema: Any) -> bool:
    """Whether every object in it lists all that it has and needs it all: else OpenAI refuses to be strict."""
    if isinstance(schema, list):
        return all(map(_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema and isinstance(schema["properties"], Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema["properties"]):
            return False
    return all(map(_closed, schema.values()))


def _without_system(messages: Sequence[Json]) -> list[Json]:
    """What the system would say is said by the user, at the head of the next turn."""
    said: list[str] = []
    turns: list[Json] = []
    for turn in messages:
        if turn["role"] == "system":
            said.append(turn["content"])
            continue
        turns.append({**turn, "content": "\n\n".join([*said, turn["content"]])} if said else turn)
        said = []
    return turns
