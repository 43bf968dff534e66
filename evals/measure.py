"""Every question put to every backend, in turn, and kept. Knows neither what is measured nor how it is told."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


Ask = Callable[[Question, str, int], Row]
"""Puts a question to the backend of that name; the number tells its repeats apart."""


def measure(
    questions: Sequence[Question],
    backends: Sequence[Backend],
    setting: Setting,
    folder: RunFolder,
    *,
    repeats: int = 1,
    warm: int = 1,
    spread: "Spread | None" = None,
) -> list[Row]:
    """The rows of all of them, those that the folder has already among them, in a fixed order. See `in_turns`."""
    names, put = [backend.name for backend in backends], putting(backends, setting)
    return in_turns(questions, names, put, folder, repeats=repeats, warm=warm, spread=spread)


def putting(backends: Sequence[Backend], setting: Setting) -> Ask:
    named = {backend.name: backend for backend in backends}

    def put(question: Question, name: str, repeat: int) -> Row:
        backend = named[name]
        options, may_abstain = setting.options(backend, question), setting.may_abstain
        library = setting.library(question)
        return ask(question, backend, library, options=options, may_abstain=may_abstain, repeat=repeat)

    return put


def in_turns(
    questions: Sequence[Question],
    names: Sequence[str],
    put: Ask,
    folder: RunFolder,
    *,
    repeats: int = 1,
    warm: int = 1,
    spread: "Spread | None" = None,
) -> list[Row]:
    """One question goes through all backends before the next, so that the machine's noise hits all alike, and another
    backend begins each time. `warm` questions are asked beforehand, in other words, and not kept.
    With `spread` questions are asked elsewhere, several at a time, and nothing is warmed up.
    """
    turns = list(_turns(questions, names, repeats))
    todo = [turn for turn in turns if turn.key not in folder.rows]
    done = len(turns) - len(todo)
    if todo and spread is None:
        _warm_up(questions[-warm:] if warm else [], names, put)
    with meter("asking", len(turns), done=done) as tell:
        tell(done, running(folder.rows, names))
        try:
            for row in spread(todo) if spread else (put(*turn) for turn in todo):
                folder.add(row)
                done += 1
                tell(done, running(folder.rows, names))
        except KeyboardInterrupt:
            said = f"stopped with {done} of {len(turns)} answers in {folder.path}; the same command goes on"
            progress().print(said, soft_wrap=True)
            raise
    order = [(name, q.id, repeat) for name in names for repeat in range(repeats) for q in questions]
    return [folder.rows[key] for key in order]


def running(rows: Mapping[tuple[str, str, int], Row], names: Sequence[str]) -> str:
    """The headline score so far, in percent, a backend after the other."""
    parts = []
    for name in names:
        mine = [row.headline for row in rows.values() if row.backend == name]
        if mine:
            parts.append(f"{name} {mine[0][0]} {100 * sum(score for _, score in mine) / len(mine):.1f}")
    return ", ".join(parts)


class Turn(NamedTuple):
    question: Question
    name: str
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.name, self.question.id, self.repeat


Spread = Callable[[Sequence[Turn]], Iterable[Row]]
"""The row of each turn, in the order of the turns."""


def _turns(questions: Sequence[Question], names: Sequence[str], repeats: int) -> Iterator[Turn]:
    for repeat in range(repeats):
        for number, question in enumerate(questions):
            first = (number + repeat) % len(names)
            for name in (*names[first:], *names[:first]):
                yield Turn(question, name, repeat)


def _warm_up(questions: Sequence[Question], names: Sequence[str], put: Ask) -> None:
    """With the last questions, each in other words: a model may keep what it read last, and must not be measured on it."""
    for question in questions:
        other = replace(question, text=f"Before we begin: {question.text}")
        for name in names:
            put(other, name, 0)
