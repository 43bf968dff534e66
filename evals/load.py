"""Many questions at a time: how many are answered in a second, and how long each then waits. Knows no single answer.

blocks.jsonl   a line for each block of questions, level and backend
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from pydantic import BaseModel, ConfigDict, ValidationError

from ..agent.console import progress
from .asking import ask
from .backend import Backend
from .errors import RunUnusable
from .folder import RunFolder
from .interval import Interval, quantile, rate
from .measure import Setting
from .meter import meter
from .question import Question
from .table import milliseconds, number, table, times

BLOCKS = "blocks.jsonl"
BLOCK = 8
"""Questions that go through one backend before the next has its turn, at any level."""


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(Record):
    """Some questions asked of one backend, `at_once` at a time. `seconds` is from the first to the last answer, `waited`
    each question's own."""

    backend: str
    at_once: int
    number: int
    seconds: float
    waited: tuple[float, ...]

    @property
    def key(self) -> tuple[str, int, int]:
        return self.backend, self.at_once, self.number


class Load(Record):
    """Of one backend at one level: questions a second, over blocks, and waiting in seconds, over questions. `ratio` is how
    many times as many questions a second the first backend answers."""

    backend: str
    at_once: int
    questions: int
    per_second: Interval
    p50: Interval
    p99: Interval
    ratio: Interval | None


def under_load(
    questions: Sequence[Question],
    backends: Sequence[Backend],
    setting: Setting,
    folder: RunFolder,
    levels: Sequence[int],
    *,
    seed: int,
) -> tuple[Load, ...]:
    """A block goes through all backends before the next, another one first each time. A run that was stopped goes on."""
    done = {block.key: block for block in _read(folder)}
    todo = [turn for turn in _turns(questions, backends, levels) if (turn[0].name, turn[1], turn[2]) not in done]
    with meter("under load", len(done) + len(todo), done=len(done)) as tell:
        for count, (backend, level, number_, block) in enumerate(todo, len(done) + 1):
            try:
                made = _asked(block, backend, setting, level, number_)
            except KeyboardInterrupt:
                progress().print(f"stopped under load; the same command goes on in {folder.path}", soft_wrap=True)
                raise
            folder.append(BLOCKS, made)
            done[made.key] = made
            tell(count, f"{backend.name}, {level} at once: {len(block) / made.seconds:.2f} questions a second")
    blocks = list(done.values())
    return tuple(_summed(blocks, backend, backends[0], level, seed) for level in levels for backend in backends)


def load_table(found: Sequence[Load]) -> str:
    head = [
        "at once",
        "backend",
        "questions",
        "questions a second",
        "p50, ms",
        "p99, ms",
        "first backend, times as many",
    ]
    cells = (
        [
            str(one.at_once),
            one.backend,
            f"{one.questions} in {one.per_second.n}",
            number(one.per_second, digits=2),
            milliseconds(one.p50),
            milliseconds(one.p99),
            times(one.ratio),
        ]
        for one in found
    )
    return table(head, cells)


Turn = tuple[Backend, int, int, list[Question]]


def _turns(questions: Sequence[Question], backends: Sequence[Backend], levels: Sequence[int]) -> Iterator[Turn]:
    for level in levels:
        rest = iter(questions)
        number_ = 0
        while block := list(islice(rest, BLOCK)):
            first = (number_ + level) % len(backends)
            for backend in (*backends[first:], *backends[:first]):
                yield backend, level, number_, block
            number_ += 1


def _asked(block: Sequence[Question], backend: Backend, setting: Setting, level: int, number_: int) -> Block:
    def put(question: Question) -> float:
        options, library = setting.options(backend, question), setting.library(question)
        return ask(question, backend, library, options=options, may_abstain=setting.may_abstain).seconds["total"]

    begin = time.perf_counter()
    with ThreadPoolExecutor(level) as pool:
        waited = tuple(pool.map(put, block))
    seconds = time.perf_counter() - begin
    return Block(backend=backend.name, at_once=level, number=number_, seconds=seconds, waited=waited)


def _read(folder: RunFolder) -> list[Block]:
    path = folder.path / BLOCKS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    try:
        return [Block.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise RunUnusable(f"{path}: {error.errors()[0]['msg']}. Choose another folder with --out") from error


def _summed(blocks: Sequence[Block], backend: Backend, first: Backend, level: int, seed: int) -> Load:
    mine, ours = (
        sorted((b for b in blocks if b.backend == one.name and b.at_once == level), key=lambda b: b.number)
        for one in (backend, first)
    )
    seconds, waited = [b.seconds for b in mine], [s for b in mine for s in b.waited]
    return Load(
        backend=backend.name,
        at_once=level,
        questions=len(waited),
        per_second=rate([float(len(b.waited)) for b in mine], seconds, seed=seed),
        p50=quantile(waited, 0.50, seed=seed),
        p99=quantile(waited, 0.99, seed=seed),
        ratio=rate(seconds, [b.seconds for b in ours], seed=seed) if backend.name != first.name else None,
    )
