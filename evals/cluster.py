"""Questions spread over a Ray cluster. Each worker opens the same plan once; the rows come back in the order of the turns.

Every machine must see the question file, the index and the model's files under the same paths. What an answer is does not
depend on who gives it; times do, so `remask eval latency` is not spread.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..retrieval.cluster import Cluster, connected
from .asking import Row
from .hotpotqa import Plan
from .measure import Ask, Spread, Turn, putting
from .question import Question

Planned = Callable[[], Plan]


class _Piece(NamedTuple):
    key: str
    planned: Planned
    question_id: str
    name: str
    repeat: int


@contextmanager
def spreading(address: str | None, planned: "partial[Plan]") -> Iterator[Spread | None]:
    """None without an address. `planned` makes the plan: it is called once in every worker, with absolute paths, and with
    the index that is there by now instead of the texts for it. Raises ClusterUnavailable."""
    if address is None:
        yield None
        return
    with connected(address) as cluster:
        yield partial(_spread, cluster, for_workers(planned))


def for_workers(planned: "partial[Plan]") -> "partial[Plan]":
    """
    >>> sorted(for_workers(partial(dict, corpus=Path("/c.jsonl"), index=None, out=Path("/run"))).keywords.items())
    [('corpus', None), ('index', PosixPath('/run/index')), ('out', PosixPath('/run'))]
    """
    options = {name: _absolute(value) for name, value in planned.keywords.items()}
    if options.get("corpus") is not None:
        options |= {"corpus": None, "index": options["index"] or options["out"] / "index"}
    return partial(planned.func, *map(_absolute, planned.args), **options)


def _spread(cluster: Cluster, planned: "partial[Plan]", turns: Sequence[Turn]) -> Iterator[Row]:
    key = repr((planned.args, planned.keywords))
    pieces = (_Piece(key, planned, turn.question.id, turn.name, turn.repeat) for turn in turns)
    return map(Row.model_validate_json, cluster.each(_ask, pieces))


def _absolute(value: Any) -> Any:
    return value.absolute() if isinstance(value, Path) else value


def _ask(piece: _Piece) -> str:
    """In a worker."""
    if piece.key not in _OPENED:
        made = piece.planned()
        questions = {question.id: question for question in made.questions}
        _OPENED[piece.key] = questions, putting(made.backends, made.setting)
    questions, put = _OPENED[piece.key]
    return put(questions[piece.question_id], piece.name, piece.repeat).model_dump_json()


_OPENED: dict[str, tuple[dict[str, Question], Ask]] = {}
"""By what it was made from: the plan of this worker, opened at its first question."""
