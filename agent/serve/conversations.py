"""`/sessions`: the conversations that the server keeps for whoever asks, listed and deleted."""

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from ..memory.sessions import Sessions
from .errors import NotThere
from .service import Service


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["sessions"])

    def own(request: Request) -> Sessions:
        """Each key sees its own."""
        return service.sessions.of(request.state.owner)

    @router.get("/sessions", response_class=Response)
    async def listed(request: Request) -> Response:
        """The conversations, the one used last first."""
        found = await run_in_threadpool(own(request).list)
        return JSONResponse({"sessions": [info.model_dump() for info in found]})

    @router.get("/sessions/{name}", response_class=Response)
    async def read(name: str, request: Request) -> Response:
        """The turns of a conversation, oldest first."""
        turns = await run_in_threadpool(own(request).turns, name)
        if not turns:
            raise NotThere(f"there is no session {name!r}")
        return JSONResponse({"name": name, "turns": [turn.model_dump() for turn in turns]})

    @router.delete("/sessions/{name}", response_class=Response)
    async def delete(name: str, request: Request) -> Response:
        """Forgets a conversation."""
        if not await run_in_threadpool(own(request).delete, name):
            raise NotThere(f"there is no session {name!r}")
        return JSONResponse({"deleted": name})

    return router
