"""How large a request's body may be and how long it may take to arrive, whatever its headers claim."""

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import AmbiguousLength, BodySlow, BodyTooLarge, Refusal
from .guard import refuse
from .options import ServeOptions


class BodyLimit:
    """Middleware. A body that is declared too large is refused unread; one that turns out so is read no further."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app, self._options = app, options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._options.max_upload_bytes if scope["path"] == "/documents" else self._options.max_body_bytes
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "")
        if declared and "transfer-encoding" in headers:
            await refuse(send, AmbiguousLength("the body has a length and comes in chunks. Send one or the other"))
            return
        if declared.isdecimal() and int(declared[:20]) > limit:
            await refuse(send, _too_large(limit), scope["state"].get("request_id", ""))
            return
        body = _Body(receive, limit, self._options.body_seconds)
        await self._app(scope, body.receive, send)


class BodyRefused(HTTPException):
    """A refusal that comes unchanged through whoever parses the body."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.status, detail=str(refusal), headers=refusal.headers)
        self.refusal = refusal


class _Body:
    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive, self._limit, self._seconds = receive, limit, seconds
        self._read, self._whole, self._until = 0, False, 0.0

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()  # now only word that the client left can come
        now = asyncio.get_running_loop().time()
        self._until = self._until or now + self._seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise BodyRefused(BodySlow(f"the body took longer than {self._seconds:g} s to arrive")) from None
        self._read += len(message.get("body", b""))
        if self._read > self._limit:
            raise BodyRefused(_too_large(self._limit))
        self._whole = not message.get("more_body", False)
        return message


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {limit:,} bytes. Send less at once")
