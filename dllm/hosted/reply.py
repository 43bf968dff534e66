"""A reply as it grows: chunks of a stream, or one whole completion, put together. Knows the fields, no connection."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..errors import GenerationFailed

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
_MOST_SHOWN = 120


class Call(NamedTuple):
    """A tool that the model wants called; `arguments` is JSON as it came, whole only when the reply is."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What has come so far. `finish` is empty until the server says that it is done, and why."""

    said: str = ""
    refusal: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = ""
    words: tuple[tuple[str, float], ...] = ()
    """Each token and the logarithm of its probability; empty where the server gives none."""
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Without what the model thought before it spoke, as some servers leave it in. Halves of surrogate pairs, which
        may have come in two chunks, are joined."""
        whole = self.said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _THOUGHT.sub("", whole)

    def grown(self, data: str, *, replaces: bool = False) -> "Reply":
        """With one chunk more, as JSON. `replaces`: its text takes the place of all before. Raises GenerationFailed."""
        chunk = parsed(data)
        usage = chunk.get("usage") if isinstance(chunk.get("usage"), dict) else None
        grown = replace(self, usage=usage) if usage else self
        choice = _choice(chunk, needed=usage is None)
        if choice is None:
            return grown
        delta = choice.get("delta", choice.get("message")) or {}
        if not isinstance(delta, dict):
            raise _nonsense(data)
        return grown._with(choice, delta, replaces)

    def _with(self, choice: dict[str, Any], delta: dict[str, Any], replaces: bool) -> "Reply":
        piece = _text(delta.get("content"))
        return replace(
            self,
            said=(piece or self.said) if replaces else self.said + piece,
            refusal=self.refusal + _text(delta.get("refusal")),
            calls=_joined(self.calls, delta.get("tool_calls")),
            finish=_text(choice.get("finish_reason")) or self.finish,
            words=() if replaces else self.words + _words(choice.get("logprobs")),
        )


def parsed(data: str) -> dict[str, Any]:
    """A JSON object. Raises GenerationFailed, quoting the beginning of what is none."""
    try:
        held = json.loads(data)
    except (ValueError, RecursionError):
        raise _nonsense(data) from None
    if not isinstance(held, dict):
        raise _nonsense(data)
    return held


def _choice(chunk: dict[str, Any], *, needed: bool) -> dict[str, Any] | None:
    """The only choice, as one is asked for. A chunk without any may report usage alone."""
    choices = chunk.get("choices")
    if isinstance(choices, list) and all(isinstance(each, dict) for each in choices):
        if choices:
            return dict(choices[0])
        if not needed or "id" in chunk:
            return None
    raise _nonsense(json.dumps(chunk))


def _joined(calls: tuple[Call, ...], pieces: Any) -> tuple[Call, ...]:
    """Calls come in pieces: the first names the tool, those after it go on with its arguments."""
    joined = list(calls)
    for number, piece in enumerate(pieces if isinstance(pieces, list) else ()):
        function = piece.get("function") if isinstance(piece, dict) else None
        if not isinstance(function, dict):
            raise _nonsense(json.dumps(pieces))
        at = piece.get("index")
        at = at if isinstance(at, int) and 0 <= at <= len(joined) else min(number, len(joined))
        if at == len(joined):
            joined.append(Call("", "", ""))
        was = joined[at]
        arguments = function.get("arguments") or ""
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
        name = was.name or _text(function.get("name"))
        joined[at] = Call(was.id or _text(piece.get("id")), name, was.arguments + whole)
    return tuple(joined)


def _words(logprobs: Any) -> tuple[tuple[str, float], ...]:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return ()
    each = (word for word in content if isinstance(word, dict))
    return tuple(
        (_text(w.get("token")), float(w["logprob"])) for w in each if isinstance(w.get("logprob"), int | float)
    )


def _text(value: Any) -> str:
    """A string as it is; parts of a text, as some servers send them, as one; anything else as nothing."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _nonsense(data: str) -> GenerationFailed:
    line = " ".join(data.split())
    said = line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"
    return GenerationFailed(f"the server sent no chat completion but {said!r}. Is it the address of a chat model?")
