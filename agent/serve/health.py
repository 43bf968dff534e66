"""`/health`, `/ready` and `/metrics`: for whoever runs the server."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from .service import Service

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health")
    async def health() -> dict[str, str]:
        """Whether there is a server at all."""
        return {"status": "ok"}

    @router.get("/ready", response_class=Response)
    async def ready() -> Response:
        """Whether a question would be taken now: 503 while starting, stopping, or with a full queue."""
        turns, options = service.turns, service.options
        free = turns.running < options.running or turns.waiting < options.waiting
        able = service.ready and free
        said: dict[str, Any] = {"ready": able, "running": turns.running, "waiting": turns.waiting}
        return JSONResponse(said, status_code=200 if able else 503)

    @router.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Counts for Prometheus."""
        return Response(service.metrics.text(), media_type=PROMETHEUS)

    return router
