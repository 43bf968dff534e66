"""OpenAI's chat dialect: what a client may send, and the objects it gets. Knows an answer, not how it comes about.

https://platform.openai.com/docs/api-reference/chat; `diffusing` is Inception's: each event carries the whole text as it
stands, and replaces the one before.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..answer import Answer
from ..memory.turn import Turn
from .errors import InvalidRequest

MOST_MESSAGES = 200
UNHEARD: tuple[str, ...] = ("tools", "functions", "logprobs", "audio", "modalities")
"""Settings that change what an answer is, and are not done here."""


class Part(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: str
    text: str = ""


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            odd = [part.type for part in self.content if part.type != "text"]
            if odd:
                raise InvalidRequest(f"messages: a part of type {odd[0]!r} can't be read. Send text only")
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="allow")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """What is not listed (temperature, top_p, max_tokens, penalties, stop ...) is taken and has no effect: answers quote."""

    model_config = ConfigDict(extra="allow")

    model: str = ""
    messages: list[Message] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    diffusing: bool = False
    """With `stream`: the canvas after every pass, each event replacing the text before."""
    seed: int | None = Field(default=None, ge=0, lt=2**31)
    n: int | None = None

    def check(self) -> None:
        """Raises InvalidRequest for what would change the meaning of the answer and can't be done."""
        if self.n not in (None, 1):
            raise InvalidRequest(f"n={self.n!r}: there is one answer to a question. Leave n out")
        if self.diffusing and not self.stream:
            raise InvalidRequest("diffusing=true shows the passes of a stream. Send stream=true too")
        given = {name: value for name, value in (self.model_extra or {}).items() if value}
        unheard = [name for name in UNHEARD if name in given and given[name] != ["text"]]
        kind = given.get("response_format", {"type": "text"})
        if not isinstance(kind, dict) or kind.get("type") != "text":
            unheard.append("response_format")
        if unheard:
            raise InvalidRequest(f"{unheard[0]}: not done over this dialect. Leave it out")

    def question(self) -> tuple[str, list[Turn]]:
        """The last thing a user said, and what was said before. Instructions of a system are not for a model that quotes."""
        said = [(m.role, m.text) for m in self.messages if m.role in ("user", "assistant") and m.text.strip()]
        if not said or said[-1][0] != "user":
            raise InvalidRequest("messages: the last one has to be the user's, with the question as its text")
        turns: list[Turn] = []
        for role, text in said[:-1]:
            if role == "user":
                turns.append(Turn(asked=text, question=text, answer=""))
            elif turns:
                turns[-1] = turns[-1].model_copy(update={"answer": text})
        return said[-1][1], turns


def completion(made: str, created: int, model: str, answer: Answer, prompt: str) -> dict[str, Any]:
    """An answer as a whole `chat.completion`. Citations, confidence and the rest of ours stand under `remask`."""
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    return {
        "id": made,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage(prompt, answer),
        "remask": ours(answer),
    }


def chunk(made: str, created: int, model: str, delta: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """One `chat.completion.chunk`; without a delta one that has no choices, as the one with the usage."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": None, "logprobs": None}]
    finish = more.pop("finish_reason", None)
    if choices and finish:
        choices[0]["finish_reason"] = finish
    base = {"id": made, "object": "chat.completion.chunk", "created": created, "model": model, "choices": choices}
    return base | more


def ours(answer: Answer) -> dict[str, Any]:
    """The answer but for its trace, which `/ask` tells."""
    return answer.model_dump(mode="json", exclude={"trace"})


def usage(prompt: str, answer: Answer) -> dict[str, int]:
    """Words and signs, since models count differently and not all tell. The prompt's are those of the messages."""
    asked, said = words(prompt), words(answer.text)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def words(text: str) -> int:
    """How many words and signs there are.

    >>> words("Who wrote it?")
    4
    """
    return len(re.findall(r"\w+|[^\w\s]", text))


def prompt_text(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages)
