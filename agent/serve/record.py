"""Around every request: its id, what its answer's headers allow a browser, and how it is counted and logged."""

import json
import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import SECRET, Refusal
from .guard import refuse
from .metrics import Metrics

LOG = logging.getLogger("remask.serve")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})

# Scripts, styles and connections of the server itself; no text becomes markup; nobody frames it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Record:
    """Middleware, outermost. Leaves the request's id in `scope["state"]["request_id"]`."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})["request_id"] = request_id(Headers(scope=scope).get("x-request-id", ""))
        begin, status = time.perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _complete(MutableHeaders(raw=message["headers"]), scope)
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception:
            # Ours, or a library's: the log gets all of it, the client an apology.
            LOG.exception("request %s failed", scope["state"]["request_id"])
            if not status:
                await refuse(sent, Refusal(SECRET), scope["state"]["request_id"])
        finally:
            self._note(scope, status, time.perf_counter() - begin)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.request(method, route, status, seconds)
        said = {
            "request_id": scope["state"]["request_id"],
            "method": method,
            "route": route,
            "status": status,
            "seconds": round(seconds, 4),
            "owner": scope["state"].get("owner", ""),
        }
        LOG.info(json.dumps(said))


def request_id(given: str) -> str:
    """The client's own where it is plain, else a new one.

    >>> request_id("a-1"), len(request_id("a b")), len(request_id(""))
    ('a-1', 16, 16)
    """
    return given if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else secrets.token_hex(8)


def _complete(headers: MutableHeaders, scope: Scope) -> None:
    headers["x-request-id"] = scope["state"]["request_id"]
    for name, value in SAFE.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store")
