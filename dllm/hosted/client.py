"""Talks to one server: streams, tries again, and gives up with an error that says why. Knows no prompt and no draft."""

import asyncio
import json
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TypeVar

import httpx2

from ..errors import BackendUnavailable, GenerationFailed, ModelError
from .ask import OPTIONAL, SYSTEM, Ask, body
from .endpoint import Endpoint
from .failure import Refusal, counted_tries, judged, shown, wait_seconds
from .reply import Reply, parsed

_LOG = logging.getLogger(__name__)
Got = TypeVar("Got")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long is waited, in seconds, and how often is tried again."""

    connect: float = 10.0
    first: float = 120.0
    """For the first piece of an answer. Models that think first are silent for long."""
    stall: float = 30.0
    """Between two pieces; keep-alives are none."""
    whole: float = 600.0
    """For one try altogether."""
    retries: int = 3
    """After a refusal that may pass (429, 5xx) or a lost connection."""
    backoff: float = 0.5
    """Before the first retry; doubled each time, and up to a quarter longer, so that many clients don't come at once."""
    longest_wait: float = 60.0
    """A server that asks for more by Retry-After is given up at once."""


class _Lost(Exception):
    """The connection, not the request, failed: trying again may help."""


class Client:
    """One server, in the event loop of whoever calls. Many requests at once; what they share is connections and which
    optional fields this server refuses."""

    def __init__(self, endpoint: Endpoint, patience: Patience | None = None) -> None:
        self.endpoint, self.patience = endpoint, patience or Patience()
        self._refused: frozenset[str] = frozenset()
        key = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._http = httpx2.AsyncClient(
            headers={"Accept": "text/event-stream, application/json", "User-Agent": "remask", **key},
            # Certificates take a tenth of a second to load, and a server in the clear has none to check.
            verify=endpoint.url.startswith("https:"),
            timeout=httpx2.Timeout(None, connect=self.patience.connect),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=8),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def replies(self, ask: Ask) -> AsyncGenerator[Reply, None]:
        """The reply again and again as it grows, the last time whole. After a lost connection it begins anew.

        Raises BackendUnavailable, GenerationFailed, and PromptTooLong.
        """
        tries = 0
        while True:
            sent, wait = self._refused, 0.0
            try:
                async with aclosing(self._once(ask, sent)) as growing:
                    async for reply in growing:
                        yield reply
                return
            except Refusal as refusal:
                if self._learnt(refusal, ask, sent):
                    continue
                wait = await self._wait(refusal, tries)
            except _Lost as lost:
                if tries >= self.patience.retries:
                    raise BackendUnavailable(f"{lost}, in {counted_tries(tries + 1)}. Try again later") from lost
                wait = self._backoff(tries)
            tries += 1
            _LOG.info("asking %s again in %.1f s", self.endpoint.shown_url, wait)
            await asyncio.sleep(wait)

    async def models(self) -> tuple[str, ...]:
        """The ids that the server lists; empty where it lists none. Raises BackendUnavailable."""
        try:
            response = await self._listed()
        except _Lost as lost:
            raise BackendUnavailable(f"{lost}. Is it running?") from lost
        if response.status_code in (401, 403):
            raise judged(Refusal(response.status_code, response.text, response.headers), self.endpoint)
        try:
            listed = parsed(response.text).get("data")
        except GenerationFailed:
            return ()
        each = listed if isinstance(listed, list) else []
        return tuple(str(model["id"]) for model in each if isinstance(model, dict) and "id" in model)

    # One try.

    async def _listed(self) -> httpx2.Response:
        """Tried twice: a connection that was kept may have been closed by the server just as it is used again."""
        ask = f"{self.endpoint.url}/models"
        with suppress(_Lost):
            return await self._within(self.patience.first, self._http.get(ask))
        return await self._within(self.patience.first, self._http.get(ask))

    async def _once(self, ask: Ask, refused: frozenset[str]) -> AsyncGenerator[Reply, None]:
        sent = body(ask, self.endpoint, refused)
        # Halves of surrogate pairs, which JSON may hold and UTF-8 may not, become question marks.
        content = json.dumps(sent, ensure_ascii=False).encode("utf-8", "replace")
        kind = {"Content-Type": "application/json"}
        request = self._http.build_request(
            "POST", f"{self.endpoint.url}/chat/completions", content=content, headers=kind
        )
        until = asyncio.get_running_loop().time() + self.patience.whole
        response = await self._within(self.patience.first, self._http.send(request, stream=True))
        try:
            if response.status_code != 200:
                raise Refusal(response.status_code, await self._read(response), response.headers)
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                yield self._checked(Reply().grown(await self._read(response)))
                return
            async with aclosing(self._streamed(response, until, replaces=bool(sent.get("diffusing")))) as growing:
                async for reply in growing:
                    yield reply
        finally:
            await response.aclose()

    async def _streamed(
        self, response: httpx2.Response, until: float, *, replaces: bool
    ) -> AsyncGenerator[Reply, None]:
        response.encoding = "utf-8-sig"  # As the standard of event streams says, whatever the header does.
        events = aiter(httpx2.EventSource(response))
        try:
            async with aclosing(self._grown(events, until, replaces=replaces)) as growing:
                async for reply in growing:
                    yield reply
        finally:
            # Left to the garbage collector, it may be closed by another thread while this one reads on.
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def _grown(
        self, events: AsyncIterator[httpx2.ServerSentEvent], until: float, *, replaces: bool
    ) -> AsyncGenerator[Reply, None]:
        reply, patience = Reply(), self.patience.first
        while True:
            left = until - asyncio.get_running_loop().time()
            late = f"did not end within {self.patience.whole:g} s" if left < patience else ""
            try:
                event = await self._within(min(patience, left), anext(events), late)
            except StopAsyncIteration:
                break
            patience = self.patience.stall
            if event.data.strip() == "[DONE]":
                break
            if event.data.strip():
                self._check_error(event.data)
                reply = reply.grown(event.data, replaces=replaces)
                yield reply
        if not reply.finish:
            raise _Lost(f"{self.endpoint.shown_url} stopped in the middle of an answer")
        yield self._checked(reply)

    def _check_error(self, data: str) -> None:
        """Servers that fail after they began to stream say so in the stream."""
        held = parsed(data)
        if held.get("error"):
            error = held["error"]
            code = error.get("code") or error.get("status") if isinstance(error, dict) else None
            raise Refusal(code if isinstance(code, int) else 500, data, {})

    def _checked(self, reply: Reply) -> Reply:
        """A whole reply that something can be made of."""
        if reply.refusal and not reply.text.strip():
            raise GenerationFailed(
                f"{self.endpoint.model!r} declined: {shown(reply.refusal, self.endpoint)}. Ask otherwise"
            )
        if reply.finish == "content_filter":
            raise GenerationFailed(
                f"{self.endpoint.shown_url} held the answer back by its content filter. Ask otherwise"
            )
        if not reply.text.strip() and not reply.calls:
            if reply.finish == "length":
                raise GenerationFailed(
                    f"{self.endpoint.model!r} spent all its tokens on thinking. Give it more, or less reasoning effort"
                )
            raise GenerationFailed(f"{self.endpoint.model!r} answered with nothing. Ask again")
        return reply

    async def _read(self, response: httpx2.Response) -> str:
        await self._within(self.patience.first, response.aread())
        return response.text

    async def _within(self, seconds: float, step: Awaitable[Got], late: str = "") -> Got:
        """One step, or an error that says what was waited for; `late` says it where it isn't just this step."""
        where = self.endpoint.shown_url
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                return await step
        except (TimeoutError, httpx2.ReadTimeout) as error:
            late = late or f"said nothing for {seconds:g} s"
            raise GenerationFailed(f"{where} {late} and was left. Ask again, or wait longer") from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise _Lost(f"nothing answers at {where} ({_reason(error)})") from error
        except httpx2.TransportError as error:
            raise _Lost(f"the connection to {where} was lost ({_reason(error)})") from error
        except httpx2.DecodingError as error:
            raise GenerationFailed(
                f"{where} sent bytes that can't be unpacked ({_reason(error)}). Ask again"
            ) from error

    # Trying again.

    def _learnt(self, refusal: Refusal, ask: Ask, sent: frozenset[str]) -> bool:
        """Whether the server refuses an optional field that was sent; it is not sent again."""
        fields = body(ask, self.endpoint, sent)
        named = next((f for f, words in OPTIONAL.items() if f in fields and refusal.names(f, words)), None)
        if refusal.no_system and SYSTEM not in sent:
            named = SYSTEM
        if named is None:
            return False
        _LOG.info("%s does not take %r; asking without", self.endpoint.shown_url, named)
        self._refused |= {named}
        return True

    async def _wait(self, refusal: Refusal, tries: int) -> float:
        """Seconds until the next try. Raises what the refusal means where there is to be none."""
        asked = wait_seconds(refusal.headers)
        if not refusal.passing or tries >= self.patience.retries:
            raise await self._judged(refusal, tries + 1) from refusal
        if asked is not None and asked > self.patience.longest_wait:
            error = await self._judged(refusal, tries + 1)
            raise BackendUnavailable(f"{error}, in {asked:.0f} s as it says") from refusal
        return max(asked, 0.0) if asked is not None else self._backoff(tries)

    async def _judged(self, refusal: Refusal, tries: int) -> ModelError:
        models: tuple[str, ...] = ()
        if refusal.status == 404:
            try:
                models = (await self.models())[:10]
            except ModelError:
                _LOG.debug("no list of models at %s", self.endpoint.shown_url)
        return judged(refusal, self.endpoint, tries=tries, models=models)

    def _backoff(self, tries: int) -> float:
        # Not a choice of the model's: a seed here would make all clients wait alike.
        return min(self.patience.backoff * 2.0**tries, self.patience.longest_wait) * random.uniform(1.0, 1.25)


def _reason(error: Exception) -> str:
    return str(error).strip() or type(error).__name__
