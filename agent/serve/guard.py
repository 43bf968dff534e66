"""Whose request may pass: the host it names, the site it comes from, the key it carries. Reads no body."""

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import Forbidden, KeyWanted, Refusal, shape
from .keys import Keys
from .options import ServeOptions

OPEN = ("/health", "/ready")
"""Told to everyone: whether there is a server here."""
WORK = ("/v1/", "/ask", "/documents", "/sessions", "/metrics", "/openapi.json")
"""What a key opens. The page itself is open; what it asks for is not."""


class Guard:
    """Middleware. Leaves the key's owner in `scope["state"]["owner"]`."""

    def __init__(self, app: ASGIApp, options: ServeOptions, keys: Keys) -> None:
        self._app, self._options, self._keys = app, options, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except Refusal as refusal:
            await refuse(send, refusal, scope["state"].get("request_id", ""))
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers.get("host", ""))
        self._check_site(headers, scope)
        owner = "" if not _guarded(scope["path"]) else self._keys.owner(headers.get("authorization", ""))
        if owner is None and scope["method"] != "OPTIONS":  # browsers ask leave without the key
            raise KeyWanted("this server wants a key. Send it as: Authorization: Bearer KEY")
        scope["state"]["owner"] = owner or ""

    def _check_host(self, host: str) -> None:
        """A site that makes its own name point to this machine would else be let in by the browsers of those who visit it."""
        names = self._options.names
        name = (urlsplit(f"//{host}").hostname or "") if _well_formed(host) else ""
        if names and name not in names:
            raise Forbidden(
                f"this server does not answer to the host {host!r}. Start it with --allow-host {name or 'NAME'}"
            )

    def _check_site(self, headers: Headers, scope: Scope) -> None:
        origin = headers.get("origin", "")
        own = (f"http://{headers.get('host', '')}", f"https://{headers.get('host', '')}")
        if origin and origin not in own and origin not in self._options.allow_origins:
            raise Forbidden(f"pages of {origin!r} may not use this server. Start it with --allow-origin {origin}")
        site = headers.get("sec-fetch-site", "")
        if site == "cross-site" and not origin and _guarded(scope["path"]):
            raise Forbidden("another site's page may not use this server")


def _guarded(path: str) -> bool:
    return path.startswith(WORK) and path not in OPEN


def _well_formed(host: str) -> bool:
    try:
        return bool(urlsplit(f"//{host}").hostname)
    except ValueError:
        return False


async def refuse(send: Send, refusal: Refusal, request_id: str = "", more: Mapping[str, str] | None = None) -> None:
    """Sends a refusal from below the routes."""
    body = json.dumps(shape(str(refusal), refusal.code, refusal.status, request_id)).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers, **(more or {})}
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
