"""The web page: files of the package, by fixed names. Nothing a client sends becomes a path."""

import hashlib
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def routes() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for entry in files(__package__).joinpath("static").iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if suffix in KINDS:
            _serve(router, entry.name, entry.read_bytes(), KINDS[suffix])
    return router


def _serve(router: APIRouter, name: str, content: bytes, kind: str) -> None:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'

    async def file(request: Request) -> Response:
        headers = {"etag": tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    path = "/" if name == "index.html" else f"/static/{name}"
    router.add_api_route(path, file, methods=["GET", "HEAD"], name=name, response_class=Response)
