"""The application: routes over a service, and around them what every request goes through."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from . import asking, chat, conversations, documents, health, page, refusals, vectors
from .body import BodyLimit
from .guard import Guard
from .record import Record
from .service import Service

ABOUT = "Questions in, cited answers out. A diffusion model drafts them, and every pass over its canvas can be watched."


def application(service: Service) -> FastAPI:
    """An ASGI application. The service starts and stops with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None, None]:
        service.start()
        try:
            yield
        finally:
            service.stop()

    # The usual pages of documentation load scripts from elsewhere; /openapi.json says the same.
    app = FastAPI(
        title="remask", description=ABOUT, version=version("remask"), docs_url=None, redoc_url=None, lifespan=lifespan
    )
    for part in (asking, chat, vectors, documents, conversations, health):
        app.include_router(part.routes(service))
    app.include_router(page.routes())
    refusals.install(app)
    # The last one added is the outermost.
    app.add_middleware(BodyLimit, options=service.options)
    app.add_middleware(Guard, options=service.options, keys=service.keys)
    if service.options.allow_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=service.options.allow_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type", "x-request-id"],
            expose_headers=["x-request-id", "retry-after"],
        )
    app.add_middleware(Record, metrics=service.metrics)
    return app
