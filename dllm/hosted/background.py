"""An event loop in a thread of its own, so that plain generators can wait for several requests at once and drop them."""

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from collections.abc import Generator as Steps
from concurrent.futures import Future
from contextlib import aclosing
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Got = TypeVar("Got")


class Ended:
    """One of several is over; `error` is what ended it before its time."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


class Background(Generic[Item]):
    """`make` builds, inside the loop, what the loop's requests share; it must have an async `close`. The thread begins with
    the first use, and ends with `close`, with the object, or with the program."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: Callable[[], Any] = lambda: None
        self._shared: Any = None

    def call(self, use: Callable[[Any], Coroutine[Any, Any, Got]]) -> Got:
        """The result of one coroutine, waited for. If the wait is interrupted, it is cancelled."""
        loop, shared = self._started()
        future = asyncio.run_coroutine_threadsafe(use(shared), loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def together(
        self, uses: Sequence[Callable[[Any], AsyncGenerator[Item, None]]]
    ) -> Steps[tuple[int, Item | Ended], None, None]:
        """Runs all at once; gives what each gives, with its number, as it comes. Closing it drops whatever still runs, even
        in the middle of a wait."""
        loop, shared = self._started()
        came: SimpleQueue[tuple[int, Item | Ended]] = SimpleQueue()
        running: list[Future[None]] = [
            asyncio.run_coroutine_threadsafe(_feed(number, use(shared), came), loop) for number, use in enumerate(uses)
        ]
        left = len(running)
        try:
            while left:
                number, item = came.get()
                left -= isinstance(item, Ended)
                yield number, item
        finally:
            for future in running:
                future.cancel()

    def close(self) -> None:
        """Drops what runs. A later use begins again."""
        with self._lock:
            end, self._loop = self._end, None
            self._end = lambda: None
        end()

    def _started(self) -> tuple[asyncio.AbstractEventLoop, Any]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name="remask-hosted", daemon=True)
                thread.start()
                self._shared = asyncio.run_coroutine_threadsafe(_made(self._make), self._loop).result()
                self._end = weakref.finalize(self, _stop, self._loop, thread, self._shared)
            return self._loop, self._shared


async def _made(make: Callable[[], Any]) -> Any:
    return make()


async def _feed(number: int, items: AsyncGenerator[Item, None], came: "SimpleQueue[tuple[int, Item | Ended]]") -> None:
    try:
        async with aclosing(items) as coming:
            async for item in coming:
                came.put((number, item))
    except Exception as error:  # Of whatever kind: it is raised again in the thread that waits.
        came.put((number, Ended(error)))
    else:
        came.put((number, Ended()))


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, shared: Any) -> None:
    asyncio.run_coroutine_threadsafe(_wound_up(shared), loop).add_done_callback(
        lambda _: loop.call_soon_threadsafe(loop.stop)
    )
    if threading.current_thread() is not thread:
        thread.join(timeout=5.0)
        if not thread.is_alive():
            loop.close()


async def _wound_up(shared: Any) -> None:
    running = asyncio.all_tasks() - {asyncio.current_task()}
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await shared.close()
    await asyncio.get_running_loop().shutdown_asyncgens()
