"""Who is worked on now and who waits: first come, first served, and no longer queue than was agreed.

Knows nothing of what is done in a turn.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from .errors import TooBusy

LONGEST_RETRY_SECONDS = 60


class Turns:
    """At most `running` at once, at most `waiting` in the queue. For one event loop."""

    def __init__(self, running: int, waiting: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._places, self._queue, self._clock = running, waiting, clock
        self._free = asyncio.Semaphore(running)
        self.running = 0
        self.waiting = 0
        self._seconds = 1.0
        """What a turn takes, as a running mean."""

    def check(self) -> None:
        """Raises TooBusy where the queue is full."""
        if self._free.locked() and self.waiting >= self._queue:
            seconds = self.retry_after_seconds
            raise TooBusy(
                f"{self.running} questions are worked on and {self.waiting} wait. Ask again in {seconds} s",
                retry_after_seconds=seconds,
            )

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None, None]:
        """Waits for a turn and holds it. Raises TooBusy, at once, where the queue is full."""
        self.check()
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        begin = self._clock()
        try:
            yield
        finally:
            self.running -= 1
            self._free.release()
            self._seconds += 0.2 * (self._clock() - begin - self._seconds)

    @property
    def retry_after_seconds(self) -> int:
        """About how long the queue will take."""
        guess = (self.waiting + 1) * self._seconds / self._places
        return max(1, min(LONGEST_RETRY_SECONDS, math.ceil(guess)))
