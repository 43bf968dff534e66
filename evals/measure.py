"""Every question put to every backend, in turn, and kept. Knows neither what is measured nor how it is told."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..agent.console import progress
from ..agent.options import AgentOptions
from .asking import Row, ask
from .backend import Backend
from .folder import RunFolder
from .library import Library
from .meter import meter
from .question import Question


class Setting(NamedTuple):
    """Where each question's evidence comes from, and how a backend is asked."""

    library: Callable[[Question], Library]
    options: Callable[[Backend, Question], AgentOptions]
    may_abstain: bool = False


def measure(
    questions: Sequence[Question],
    backends: Sequence[Backend],
    setting: Setting,
    folder: RunFolder,
    *,
    repeats: int = 1,
    warm: int = 1,
) -> list[Row]:
    """The rows of all of them, those that the folder has already among them, in a fixed order.

    One question goes through all backends before the next, so that the machine's noise hits all alike, and another
    backend begins each time. `warm` questions are asked beforehand, in other words, and not kept.
    """
    turns = list(_turns(questions, backends, repeats))
    todo = [turn for turn in turns if turn.key not in folder.rows]
    done = len(turns) - len(todo)
    if todo:
        _warm_up(questions[-warm:] if warm else [], backends, setting)
    with meter("asking", len(turns), done=done) as tell:
        tell(done, running(folder.rows, backends))
        for number, turn in enumerate(todo, done + 1):
            try:
                folder.add(_asked(turn, setting))
            except KeyboardInterrupt:
                said = f"stopped with {number - 1} of {len(turns)} answers in {folder.path}; the same command goes on"
                progress().print(said, soft_wrap=True)
                raise
            tell(number, running(folder.rows, backends))
    order = [(b.name, q.id, repeat) for b in backends for repeat in range(repeats) for q in questions]
    return [folder.rows[key] for key in order]


def running(rows: Mapping[tuple[str, str, int], Row], backends: Sequence[Backend]) -> str:
    """F1 so far, in percent, a backend after the other."""
    parts = []
    for backend in backends:
        mine = [row.scores["f1"] for row in rows.values() if row.backend == backend.name]
        if mine:
            parts.append(f"{backend.name} F1 {100 * sum(mine) / len(mine):.1f}")
    return ", ".join(parts)


class _Turn(NamedTuple):
    question: Question
    backend: Backend
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.backend.name, self.question.id, self.repeat


def _turns(questions: Sequence[Question], backends: Sequence[Backend], repeats: int) -> Iterator[_Turn]:
    for repeat in range(repeats):
        for number, question in enumerate(questions):
            first = (number + repeat) % len(backends)
            for backend in (*backends[first:], *backends[:first]):
                yield _Turn(question, backend, repeat)


def _asked(turn: _Turn, setting: Setting) -> Row:
    return ask(
        turn.question,
        turn.backend,
        setting.library(turn.question),
        options=setting.options(turn.backend, turn.question),
        may_abstain=setting.may_abstain,
        repeat=turn.repeat,
    )


def _warm_up(questions: Sequence[Question], backends: Sequence[Backend], setting: Setting) -> None:
    """With the last questions, each in other words: a model may keep what it read last, and must not be measured on it."""
    for question in questions:
        other = replace(question, text=f"Before we begin: {question.text}")
        for backend in backends:
            _asked(_Turn(other, backend, 0), setting)
