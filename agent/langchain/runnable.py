"""An agent as a LangChain Runnable: a question or messages in, a message with citations out. Fits a LangGraph node."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from ..agent import Agent
from ..answer import Answer
from ..errors import InvalidQuestion
from ..events import AnswerReady, Event
from ..memory.turn import Turn
from .cited import text_block
from .messages import asked

Input = str | Sequence[Any] | Mapping[str, Any]
"""A question, messages, or a mapping with `messages` or `question`, as a graph's state has."""


def as_runnable(agent: Agent) -> Runnable[Any, AIMessage]:
    """The answer as an AIMessage: citations annotate its text block, `response_metadata` says whether it abstained and why.

    A follow-up in messages is asked in full. Each of the agent's events is dispatched as the custom event "remask". The
    metadata's `request_id` goes into the trace, the log and spans.
    """

    def ask(given: Input, config: RunnableConfig) -> AIMessage:
        question, typed = _question(agent, given)
        answer: Answer | None = None
        for event in agent.stream(question, asked=typed, request_id=_request_id(config)):
            answer = event.answer if isinstance(event, AnswerReady) else None
            dispatch_custom_event("remask", _plain(event), config=config)
        assert answer is not None, "a stream ends with an answer"
        return message(answer)

    async def aask(given: Input, config: RunnableConfig) -> AIMessage:
        question, typed = _question(agent, given)
        answer: Answer | None = None
        async for event in agent.astream(question, asked=typed, request_id=_request_id(config)):
            answer = event.answer if isinstance(event, AnswerReady) else None
            await adispatch_custom_event("remask", _plain(event), config=config)
        assert answer is not None, "a stream ends with an answer"
        return message(answer)

    return RunnableLambda(ask, afunc=aask, name="remask")


def message(answer: Answer) -> AIMessage:
    """One text block; its annotations index that text."""
    told = {
        "model_name": answer.trace.generator,
        "model_provider": "remask",
        "abstained": answer.abstained,
        "reason": answer.reason,
        "confidence": answer.confidence,
        "question": answer.trace.question,
        "request_id": answer.trace.request_id,
    }
    return AIMessage(content=[text_block(answer.text, answer.citations)], response_metadata=told)


def _question(agent: Agent, given: Input) -> tuple[str, str]:
    """The question in full, and as it was typed."""
    if isinstance(given, Mapping):
        if "messages" not in given and "question" not in given:
            raise InvalidQuestion(
                f"the input has {', '.join(map(str, given)) or 'nothing'}. Give 'messages' or 'question'"
            )
        given = given["messages"] if "messages" in given else given["question"]
    if isinstance(given, str):
        return given, given
    if isinstance(given, BaseMessage):
        given = [given]
    said = asked(convert_to_messages(given))
    turns: tuple[Turn, ...] = said.turns
    return agent.in_full(said.question, turns), said.question


def _request_id(config: RunnableConfig) -> str:
    return str((config.get("metadata") or {}).get("request_id", ""))


def _plain(event: Event) -> dict[str, Any]:
    return event.model_dump(mode="json")
