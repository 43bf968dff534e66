"""Connections that cost no work must not hold the server: slow headers, unread answers, too many at once.

Knows uvicorn's HTTP/1.1 protocol and nothing of requests.
"""

import asyncio
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from .options import ServeOptions


class Protocol(H11Protocol):
    """One connection. Bodies that come slowly are `body`'s business."""

    def __init__(self, options: ServeOptions, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._options = options
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._options.max_connections:
            transport.abort()
            return
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_came()
        self._took_data()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._headers_came()
        elif self._late is None and (before is None or before.response_complete):
            self._await_headers()  # the first bytes of a further request

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self._options.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._took_data()
        super().resume_writing()

    def _await_headers(self) -> None:
        self._late = self.loop.call_later(self._options.header_seconds, self._cut_off)

    def _headers_came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _took_data(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _cut_off(self) -> None:
        """Without an answer: whoever sends a byte a second does not wait for one."""
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


def protocol(options: ServeOptions) -> type[asyncio.Protocol]:
    """What uvicorn's `http` setting takes: it calls it like a class."""
    return cast("type[asyncio.Protocol]", partial(Protocol, options))
