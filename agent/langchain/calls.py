"""LangChain's tools called by a model: natively where it can, else by infilling from the question."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages.tool import ToolCall, tool_call

from ...dllm.draft import Generator, Prompt
from ...dllm.structured import calls_tools
from ..tools.fill import LEAST_SURE, fill, pointer
from ..tools.schema import slots_of
from ..tools.skeleton import Skeleton
from ..tools.toolbox import LEAST_MATCH

Matcher = Callable[[str, str], float]


def calls_for(
    question: str, tools: Sequence[Mapping[str, Any]], choice: str | None, generator: Generator, match: Matcher
) -> list[ToolCall]:
    """`tools` as OpenAI writes functions. `choice`: "any" or a name forces a call where the question holds its arguments;
    "none" forbids all."""
    offered = {tool["function"]["name"]: tool["function"] for tool in tools}
    if choice == "none" or not offered:
        return []
    if choice in offered:
        offered = {choice: offered[choice]}
    if calls_tools(generator):
        schemas = {
            name: {**_schema(said), "description": said.get("description", "")} for name, said in offered.items()
        }
        return [_call(name, args) for name, args in generator.call_tools(Prompt(question), schemas) if name in offered]
    forced = choice in ("any", "required", True) or choice in offered
    # Who insists on a call gets the likeliest arguments; still only such as stand in the question.
    sure = 0.0 if forced else LEAST_SURE
    tried = (_fitting(question, name, said, generator, match, sure) for name, said in offered.items())
    fitting = [found for found in tried if found]
    wanted = [(name, args) for name, args, score in fitting if forced or score >= LEAST_MATCH]
    best = max(fitting, key=lambda one: one[2])[0] if fitting else None
    return [_call(name, args) for name, args in wanted if not forced or name == best]


def _fitting(
    question: str, name: str, said: Mapping[str, Any], generator: Generator, match: Matcher, least_sure: float
) -> tuple[str, dict[str, Any], float] | None:
    """The call whose masked values all stand in the question, and how well the tool's description fits it."""
    wanted = slots_of(_schema(said))
    score = match(question, f"{name.replace('_', ' ')}: {said.get('description', '')}")
    filled = fill(wanted, question)
    if filled.missing and all(s.kind == "text" and not s.pattern for s in wanted if s.name in filled.missing):
        filled = fill(wanted, question, pointer(generator), least_sure=least_sure)
    if filled.missing or (not wanted and score == 0):
        return None
    return name, Skeleton.of_call(name, filled.values).filled(filled.values)["arguments"], score


def _schema(said: Mapping[str, Any]) -> Mapping[str, Any]:
    return said.get("parameters") or {"type": "object", "properties": {}}


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return tool_call(name=name, args=arguments, id=f"call_{uuid4().hex}")
