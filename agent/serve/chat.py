"""`/v1/chat/completions`, for programs that speak OpenAI's dialect: whole, streamed, or diffusing."""

import json
import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from ..answer import Answer
from ..events import AnswerReady, DraftMade, DraftRefined, PassMade
from .dialect import ChatRequest, chunk, completion, ours, prompt_text, usage
from .errors import NotThere
from .events import EventStream, answered, event
from .refusals import told_plainly
from .service import Question, Service

DONE = event("[DONE]")


def routes(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["openai"])

    @router.post("/chat/completions", response_class=Response)
    async def chat(asked: ChatRequest, request: Request) -> Response:
        """The answer to the last message. Earlier messages say what a follow-up refers to."""
        asked.check()
        check_model(service, asked.model)
        text, turns = asked.question()
        state = request.state
        question = Question(text=text, turns=turns, seed=asked.seed, owner=state.owner, request_id=state.request_id)
        service.check(question)
        stamp = _Stamp(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), service.generator.name)
        seconds = service.options.request_seconds
        if asked.stream:
            chunks = (_refined if asked.diffusing else _appended)(service, question, asked, stamp)
            return EventStream(chunks, seconds=seconds, told=told_plainly)
        answer = await answered(request, service.answer(question), seconds=seconds)
        return JSONResponse(completion(stamp.id, stamp.created, stamp.model, answer, prompt_text(asked.messages)))

    return router


def check_model(service: Service, name: str) -> None:
    """Raises NotThere, which names the model there is. No name at all means that one."""
    if name not in ("", "remask", service.generator.name):
        raise NotThere(f"there is no model {name!r}. Ask {service.generator.name!r}")


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What all chunks of an answer have in common."""

    id: str
    created: int
    model: str

    def chunk(self, delta: dict[str, Any] | None, **more: Any) -> bytes:
        return event(json.dumps(chunk(self.id, self.created, self.model, delta, **more), ensure_ascii=False))


async def _appended(
    service: Service, question: Question, asked: ChatRequest, stamp: _Stamp
) -> AsyncGenerator[bytes, None]:
    """For clients that put pieces together: the text comes once it stands, since every slot may change until then."""
    yield stamp.chunk({"role": "assistant", "content": ""})
    answer = await service.answer(question)
    yield stamp.chunk({"content": answer.text})
    for last in _ending(answer, asked, stamp):
        yield last


async def _refined(
    service: Service, question: Question, asked: ChatRequest, stamp: _Stamp
) -> AsyncGenerator[bytes, None]:
    """For clients that show each text in place of the one before: the canvas after every pass, the answer last."""
    yield stamp.chunk({"role": "assistant", "content": ""})
    async with aclosing(service.events(question)) as events:
        async for happened in events:
            match happened:
                case PassMade():
                    yield stamp.chunk({"content": happened.made.canvas})
                case DraftMade() | DraftRefined():
                    yield stamp.chunk({"content": happened.draft.text})
                case AnswerReady():
                    yield stamp.chunk({"content": happened.answer.text})
                    for last in _ending(happened.answer, asked, stamp):
                        yield last


def _ending(answer: Answer, asked: ChatRequest, stamp: _Stamp) -> list[bytes]:
    """The reason it ends, the usage where it is wanted (always when diffusing, as Inception does), and the mark of the end."""
    end = [stamp.chunk({}, finish_reason="stop", remask=ours(answer))]
    if asked.diffusing or (asked.stream_options and asked.stream_options.include_usage):
        end.append(stamp.chunk(None, usage=usage(prompt_text(asked.messages), answer)))
    return [*end, DONE]
