"""Load on one server, on this machine: connections that ask one question after another, timed to the last byte.

Knows HTTP/1.1 as far as our server speaks it; no client library, so that the client costs little beside the server.
"""

import asyncio
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlsplit

CUT_SHORT = 599
"""What a stream counts as that ended without its end, whatever its status said at the beginning."""


@dataclass(slots=True)
class Timings:
    """What happened while load was on."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    """Seconds of each answered request."""
    refused: int = 0
    """503: the queue was full."""
    failed: int = 0
    left: int = 0
    """Requests whose connection we closed on purpose before the answer came."""

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds if self.seconds else 0.0

    def percentile(self, share: float) -> float:
        """The smallest latency that `share` of all do not exceed; NaN where there is none.

        >>> Timings(latencies=[3.0, 1.0, 2.0]).percentile(0.5)
        2.0
        """
        ranked = sorted(self.latencies)
        return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else math.nan


@dataclass(frozen=True, slots=True)
class Requests:
    """Bytes to send, in turns. Every `leave_every`-th connection is given up half way; 0 for none."""

    sent: Sequence[bytes]
    leave_every: int = 0


def asking(questions: Sequence[str]) -> Requests:
    """`POST /ask` for each question."""
    return Requests([_post("/ask", {"question": question}) for question in questions])


def streaming(questions: Sequence[str], *, leave_every: int) -> Requests:
    """Diffusing streams for each question, as a page of a chat would ask them."""
    bodies = [{"messages": [{"role": "user", "content": q}], "stream": True, "diffusing": True} for q in questions]
    return Requests([_post("/v1/chat/completions", body) for body in bodies], leave_every)


def health() -> Requests:
    """What the server costs without an answer."""
    return Requests([b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])


async def loaded(address: str, requests: Requests, *, connections: int, seconds: float) -> Timings:
    """So many connections, each with one request at a time, until the time is over; requests under way end."""
    timings, numbers = Timings(), count()
    begin = time.perf_counter()
    await asyncio.gather(*(_worker(address, requests, numbers, begin + seconds, timings) for _ in range(connections)))
    timings.seconds = time.perf_counter() - begin
    return timings


async def _worker(address: str, requests: Requests, numbers: "count[int]", until: float, timings: Timings) -> None:
    line = await _Line.opened(address)
    try:
        while time.perf_counter() < until:
            number = next(numbers)
            leaves = requests.leave_every and number % requests.leave_every == requests.leave_every - 1
            begin = time.perf_counter()
            try:
                status = await line.asked(requests.sent[number % len(requests.sent)], leave=bool(leaves))
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                status = -1
            _note(timings, status, time.perf_counter() - begin)
            if status in (-1, 0):
                await line.close()
                line = await _Line.opened(address)
            elif status == 503:
                await asyncio.sleep(0.1)
    finally:
        await line.close()


def _note(timings: Timings, status: int, seconds: float) -> None:
    if status == 200:
        timings.latencies.append(seconds)
    timings.refused += status == 503
    timings.left += status == 0
    timings.failed += status not in (200, 503, 0)


class _Line:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def opened(cls, address: str) -> "_Line":
        place = urlsplit(address)
        return cls(*await asyncio.open_connection(place.hostname, place.port))

    async def asked(self, request: bytes, *, leave: bool) -> int:
        """The status; 0 where we left after the first bytes of the answer."""
        self._writer.write(request)
        await self._writer.drain()
        head = await self._reader.readuntil(b"\r\n\r\n")
        if leave:
            return 0
        status, last = int(head.split(b" ", 2)[1]), await self._last_of_body(head.lower())
        cut_short = b"text/event-stream" in head.lower() and not last.endswith(b"[DONE]\n\n")
        return CUT_SHORT if status == 200 and cut_short else status

    async def _last_of_body(self, head: bytes) -> bytes:
        """Reads all of it, and gives the last chunk that says something; a comment that keeps a stream open says nothing."""
        if b"transfer-encoding: chunked" not in head:
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            return await self._reader.readexactly(length)
        last = b""
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            part = (await self._reader.readexactly(size + 2))[:-2]
            last = last if part.startswith(b":") else part
        await self._reader.readexactly(2)
        return last

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


def _post(path: str, body: object) -> bytes:
    said = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
    return head.encode() + said
