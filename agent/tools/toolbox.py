"""Which tools a question calls for, and what comes of calling them. Decides from the question alone.

A model with tool calls of its own decides for itself. Any other is not asked: a tool is called when the question holds all
that the tool needs and is about what the tool does.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic_core import to_jsonable_python

from ...dllm.draft import Generator, Prompt
from ...dllm.structured import calls_tools
from ...retrieval.document import Document
from ...retrieval.embed import Embedder
from ..answer import ToolCall
from ..errors import SchemaUnusable, ToolFailed
from ..support import content_words, topic_words
from .fill import Filled, Pointer, fill, pointer
from .skeleton import Skeleton
from .tool import SEARCH, Tool

Matcher = Callable[[str, str], float]
"""How well a tool's description fits a question, 0..1."""
LEAST_MATCH = 0.25
"""With MiniLM, 10 of 10 questions about one of four tools were above it, the values in them left in, but for two that name no
subject ("When does AB-12345 arrive?" 0.28, "Status of AB-12345?" 0.13); questions about other things were below 0.2."""
MOST_CALLS = 8
_SEARCH_SCHEMA = {
    "type": "object",
    "description": "Find passages in the documents.",
    "properties": {"query": {"type": "string", "description": "What to look for."}},
    "required": ["query"],
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that is to be made. `tool` is None for a search with `arguments["query"]`."""

    tool: Tool | None
    arguments: dict[str, Any]
    because: str

    @property
    def name(self) -> str:
        return self.tool.name if self.tool else SEARCH


class Toolbox:
    """The tools of an agent."""

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]],
        *,
        generator: Generator,
        matcher: Matcher | None = None,
        least_match: float = LEAST_MATCH,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Raises SchemaUnusable for a function that can't be a tool, and for two of one name."""
        self.tools = tuple(one if isinstance(one, Tool) else Tool(one) for one in tools)
        if len({tool.name for tool in self.tools}) < len(self.tools):
            raise SchemaUnusable(f"two tools share a name: {', '.join(tool.name for tool in self.tools)}. Rename one")
        self._generator, self._clock, self._least_match = generator, clock, least_match
        self._match = matcher or shared_words
        self._point: Pointer = pointer(generator)

    def wanted(self, question: str) -> list[Wanted]:
        """At most `MOST_CALLS`. Raises ModelError only from a model that decides for itself."""
        if calls_tools(self._generator):
            return self._asked_for(question)[:MOST_CALLS]
        return [call for tool in self.tools if (call := self._fitting(tool, question))][:MOST_CALLS]

    def run(self, wanted: Wanted) -> tuple[ToolCall, Document | None]:
        """Calls the tool. What it can't do is in the record's `error`."""
        assert wanted.tool is not None
        begin, result, error, document = self._clock(), None, "", None
        try:
            result = wanted.tool.call(wanted.arguments)
            document = wanted.tool.document(result)
        except ToolFailed as failure:
            error = str(failure)
        record = ToolCall(
            name=wanted.name,
            arguments=to_jsonable_python(wanted.arguments),
            result=document.text if document else "",
            error=error,
            because=wanted.because,
            seconds=self._clock() - begin,
        )
        return record, document

    def _fitting(self, tool: Tool, question: str) -> Wanted | None:
        """The rule. A tool that needs nothing is called for its description alone, so that must fit twice as well."""
        filled = fill(tool.slots, question, None)
        if filled.missing and self._could_be_pointed_at(tool, filled):
            filled = fill(tool.slots, question, self._point)
        if filled.missing:
            return None
        match = self._match(_without(question, filled.spans), f"{tool.title}: {tool.description}")
        least = self._least_match if any(slot.required for slot in tool.slots) else min(1.0, 2 * self._least_match)
        if match < least:
            return None
        skeleton = Skeleton.of_call(tool.name, filled.values)
        arguments = skeleton.filled(filled.values)["arguments"]
        return Wanted(tool, arguments, f"{_said(filled)}; the description fits the question by {match:.2f}")

    @staticmethod
    def _could_be_pointed_at(tool: Tool, filled: Filled) -> bool:
        """Only free text is worth a run of the reader."""
        missing = [slot for slot in tool.slots if slot.name in filled.missing]
        return all(slot.kind == "text" and not slot.pattern for slot in missing)

    def _asked_for(self, question: str) -> list[Wanted]:
        assert calls_tools(self._generator)
        known = {tool.name: tool for tool in self.tools}
        offered = {SEARCH: _SEARCH_SCHEMA, **{tool.name: tool.schema for tool in self.tools}}
        calls: list[Wanted] = []
        for name, arguments in self._generator.call_tools(Prompt(question), offered):
            if name == SEARCH and isinstance(arguments.get("query"), str) and arguments["query"].strip():
                calls.append(Wanted(None, {"query": arguments["query"]}, "the model asked for it"))
            elif name in known:
                calls.append(Wanted(known[name], dict(arguments), "the model asked for it"))
        return calls


def by_embedder(embedder: Embedder) -> Matcher:
    """The cosine of question and description, none below 0. Descriptions are embedded once."""
    known: dict[str, Any] = {}

    def match(question: str, description: str) -> float:
        if description not in known:
            known[description] = _unit(embedder.embed_query(description))
        return max(0.0, float(_unit(embedder.embed_query(question)) @ known[description]))

    return match


def shared_words(question: str, description: str) -> float:
    """The share of the question's content words that the description has; for agents without an embedder.

    >>> shared_words("Where is my order?", "look up order: Look up an order and where it is.")
    0.5
    """
    asked = topic_words(question)
    return len(asked & content_words(description)) / len(asked) if asked else 0.0


def _unit(vector: Any) -> Any:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _without(question: str, spans: Sequence[tuple[int, int]]) -> str:
    """The question without the values in it: what an order is called says nothing of what is asked."""
    kept, at = [], 0
    for start, end in spans:
        kept.append(question[at:start])
        at = end
    rest = " ".join(("".join([*kept, question[at:]])).split())
    return rest if any(character.isalpha() for character in rest) else question


def _said(filled: Filled) -> str:
    values = json.dumps(to_jsonable_python(filled.values), ensure_ascii=False)
    return f"the question says {values}" if filled.values else "it needs nothing"
