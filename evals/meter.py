"""A bar on standard error with the score so far and the time left. Nothing is drawn where there is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..agent.console import progress

Tell = Callable[[int, str], None]
"""Called with how much is done and what to say of it."""


@contextmanager
def meter(label: str, total: int, *, done: int = 0) -> Iterator[Tell]:
    """`done` is what an earlier run did: the time left is reckoned from what this one does."""
    console = progress()
    text, score = TextColumn("{task.description}"), TextColumn("{task.fields[score]}")
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), score)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task(label, total=total, completed=done, score="")
        yield lambda now, said: bars.update(task, completed=now, score=said)
