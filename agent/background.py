"""A generator's steps run in a thread, for callers that must not block. Knows nothing of agents."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from collections.abc import Generator as Steps
from threading import Lock
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")


class _Done:
    pass


_DONE: Final = _Done()


async def in_thread(start: Callable[[], Steps[Item, None, None]]) -> AsyncGenerator[Item, None]:
    """What `start()` yields, each step in a worker thread. Closing or cancelling lets the step in progress end, then
    closes the generator: a thread can't be stopped, but it takes no further step."""
    steps = _Stepper(start())
    try:
        while not isinstance(item := await asyncio.to_thread(steps.step), _Done):
            yield item
    finally:
        steps.close()


class _Stepper(Generic[Item]):
    """Takes steps and is closed from any thread; never two at once, and closing never waits."""

    def __init__(self, steps: Steps[Item, None, None]) -> None:
        self._steps = steps
        self._turn = Lock()
        self._closing = False

    def step(self) -> Item | _Done:
        try:
            with self._turn:
                return _DONE if self._closing else next(self._steps, _DONE)
        finally:
            # Whoever asked to close meanwhile could not get a turn.
            if self._closing:
                self.close()

    def close(self) -> None:
        self._closing = True
        if self._turn.acquire(blocking=False):
            try:
                self._steps.close()
            finally:
                self._turn.release()
