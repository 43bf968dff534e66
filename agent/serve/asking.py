"""`/ask` and `/ask/stream`: our own answer and our own events, as JSON."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from ...retrieval.document import Scalar
from ..answer import Answer
from .errors import InvalidRequest
from .events import EventStream, answered, event
from .refusals import told
from .service import Question, Service

MOST_CONDITIONS = 16


class Ask(BaseModel):
    """A question for the documents."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="In words. A follow-up is understood within a session.")
    session: str = Field(default="", description="The conversation it belongs to; empty for none.")
    where: dict[str, Scalar] | None = Field(
        default=None, max_length=MOST_CONDITIONS, description="Only documents whose metadata has these values."
    )
    seed: int | None = Field(default=None, ge=0, lt=2**31, description="The same seed gives the same answer.")


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["ask"])

    @router.post("/ask")
    async def ask(asked: Ask, request: Request) -> Answer:
        """The answer with its citations and its trace."""
        question = _question(asked, request)
        service.check(question)
        return await answered(request, service.answer(question), seconds=service.options.request_seconds)

    @router.get("/ask/stream", response_class=Response)
    async def stream(
        request: Request,
        question: str,
        session: str = "",
        where: Annotated[str, Query(description="As for POST /ask, as JSON.")] = "",
        seed: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
    ) -> Response:
        """What happens, as server-sent events: `stage`, `evidence`, `pass`, `draft`, `refined`, `citations`, `answer` last.

        Each event's data is the record of that name. Trouble comes as an event `error`.
        """
        asked = Ask(question=question, session=session, where=_conditions(where), seed=seed)
        full = _question(asked, request)
        service.check(full)
        return EventStream(_events(service, full), seconds=service.options.request_seconds, told=told)

    return router


async def _events(service: Service, question: Question) -> AsyncGenerator[bytes, None]:
    async with aclosing(service.events(question)) as events:
        async for happened in events:
            yield event(happened.model_dump_json(), happened.type)


def _question(asked: Ask, request: Request) -> Question:
    return Question(
        text=asked.question,
        where=asked.where,
        seed=asked.seed,
        session=asked.session,
        owner=request.state.owner,
        request_id=request.state.request_id,
    )


def _conditions(where: str) -> dict[str, Scalar] | None:
    if not where:
        return None
    try:
        found = json.loads(where)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f'where={where[:80]!r} is no JSON: {error}. Write it like {{"year": 2024}}') from error
    if not isinstance(found, dict) or not all(isinstance(v, str | int | float) for v in found.values()):
        raise InvalidRequest(f'where={where[:80]!r} is no object of plain values. Write it like {{"year": 2024}}')
    if len(found) > MOST_CONDITIONS:
        raise InvalidRequest(f"where has {len(found)} conditions, and {MOST_CONDITIONS} are allowed")
    return found
