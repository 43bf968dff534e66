"""Server-sent events: bytes of one event, and a response that stops its work when nobody reads it any more.

https://html.spec.whatwg.org/multipage/server-sent-events.html. Knows nothing of what an event says.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

Result = TypeVar("Result")
Told = Callable[[Exception], bytes]
"""The bytes that tell a reader of a stream what went wrong."""

LOG = logging.getLogger("remask.serve")
KEEP_ALIVE_SECONDS = 10.0
LAST_WORD_SECONDS = 1.0


def event(data: str, name: str = "") -> bytes:
    r"""One event.

    >>> event('{"a": 1}', "stage")
    b'event: stage\ndata: {"a": 1}\n\n'
    """
    # Every way in which a reader may split lines, so that no text in it can end an event and begin another.
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    body = "".join(f"data: {line}\n" for line in lines)
    return f"{f'event: {name}' + chr(10) if name else ''}{body}\n".encode("utf-8", "replace")


class EventStream(Response):
    """Sends what `chunks` yields as it comes, and closes `chunks` when the client leaves or `seconds` are over.

    While nothing comes, comments keep the connection open and show whether anybody is there. Trouble after the first
    byte can't change the status any more: it is told as a last chunk, made by `told`.
    """

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncGenerator[bytes, None], *, seconds: float, told: Told) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._chunks, self._seconds, self._told = chunks, seconds, told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            await while_connected(receive, self._sent(send), seconds=self._seconds)
        except ClientGone:
            return
        except Exception as error:
            if not _expected(error):
                LOG.exception("a stream failed")
            await self._last_word(send, error)

    async def _sent(self, send: Send) -> None:
        beat = asyncio.create_task(_beat(send))
        try:
            async with aclosing(self._chunks) as chunks:
                async for chunk in chunks:
                    await send(_part(chunk))
        finally:
            beat.cancel()
        await send(_part(b"", more=False))

    async def _last_word(self, send: Send, error: Exception) -> None:
        """A client that does not read must not hold us up."""
        try:
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await send(_part(self._told(error)))
                await send(_part(b"", more=False))
        except TimeoutError:
            return


class ClientGone(Exception):
    """Nobody reads the answer any more."""


async def while_connected(receive: Receive, work: Coroutine[Any, Any, Result], *, seconds: float) -> Result:
    """What `work` gives. Cancels it, and waits until it has stopped, when the client leaves (ClientGone) or the time is
    over (TimeoutError)."""
    doing, leaving = asyncio.create_task(work), asyncio.create_task(_left(receive))
    try:
        await asyncio.wait({doing, leaving}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        if leaving.done():
            raise ClientGone
        raise TimeoutError
    finally:
        for task in (doing, leaving):
            task.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


async def answered(request: Request, work: Coroutine[Any, Any, Result], *, seconds: float) -> Result:
    """`while_connected` for a request whose body was read."""
    return await while_connected(request.receive, work, seconds=seconds)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _beat(send: Send) -> None:
    while True:
        await asyncio.sleep(KEEP_ALIVE_SECONDS)
        await send(_part(b": still at it\n\n"))


def _part(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _expected(error: Exception) -> bool:
    from ...dllm.errors import ModelError
    from ...retrieval.errors import RetrievalError
    from ..errors import AgentError

    return isinstance(error, AgentError | ModelError | RetrievalError | TimeoutError)
