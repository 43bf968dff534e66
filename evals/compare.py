"""`remask eval compare`: two runs of the same questions, in all and question by question. Asks no model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..agent.console import UsageError, counted, output
from .asking import Row
from .errors import RunUnusable
from .folder import read_rows, read_settings
from .report import NAMES
from .summary import by_backend, pair_of, scores_of
from .table import percent, points, table


def compare(one: Path, other: Path, backends: Sequence[str], *, seed: int) -> None:
    """Prints both means, their difference, and every question whose F1 changed, or of a task how it was handled."""
    if len(backends) > 2:
        raise UsageError(f"--backend was given {len(backends)} times; two runs have one each")
    output().print(
        comparison(chosen(one, backends[:1]), chosen(other, backends[-1:]), names=(str(one), str(other)), seed=seed)
    )


def chosen(folder: Path, backend: Sequence[str]) -> dict[str, Row]:
    """The first answers of one backend, by question."""
    read_settings(folder)
    groups = {rows[0].backend: rows for rows in by_backend(read_rows(folder))}
    if not groups:
        raise RunUnusable(f"{folder}: holds no answer yet. Run it again to go on")
    name = backend[0] if backend else next(iter(groups))
    if name not in groups:
        raise RunUnusable(f"{folder}: has no backend {name!r}. There are {', '.join(groups)}")
    return {row.id: row for row in groups[name] if row.repeat == 0}


def comparison(before: Mapping[str, Row], after: Mapping[str, Row], *, names: tuple[str, str], seed: int) -> str:
    """Markdown. Raises RunUnusable where no question is in both, or one has another right answer there."""
    shared = [identity for identity in before if identity in after]
    if not shared:
        raise RunUnusable(f"no question is in both {names[0]} and {names[1]}. Compare runs of the same data")
    for identity in shared:
        if before[identity].answers != after[identity].answers:
            raise RunUnusable(f"{identity!r} has other right answers in {names[1]}. Compare runs of the same data")
    old, new = [before[i] for i in shared], [after[i] for i in shared]
    changed = sorted(zip(old, new, strict=True), key=lambda pair: _worth(pair[1]) - _worth(pair[0]))
    lost = [pair for pair in changed if _worth(pair[1]) < _worth(pair[0])]
    won = [pair for pair in changed[::-1] if _worth(pair[1]) > _worth(pair[0])]
    left = len(before) + len(after) - 2 * len(shared)
    summary = f"{counted(len(shared), 'question')} in both, {left} in one only; {len(won)} better, {len(lost)} worse"
    parts = [f"# {_named(old, names[0])} → {_named(new, names[1])}", summary, _metrics(old, new, seed)]
    parts += [f"## {title}\n\n{_questions(pairs)}" for title, pairs in (("Better", won), ("Worse", lost)) if pairs]
    return "\n\n".join(parts)


def _metrics(old: Sequence[Row], new: Sequence[Row], seed: int) -> str:
    first, second = scores_of(old, seed=seed).metrics, scores_of(new, seed=seed).metrics
    pair = pair_of(new, old, seed=seed).metrics
    names = [name for name in NAMES if name in pair]
    rows = ([NAMES[n], percent(first[n]), percent(second[n]), points(pair[n])] for n in names)
    return table(["percent", "before", "after", "difference"], rows)


def _questions(pairs: Sequence[tuple[Row, Row]]) -> str:
    rows = (
        [
            new.id,
            new.question,
            "; ".join(new.answers) or "(none)",
            old.answer or "–",
            new.answer or "–",
            f"{100 * _worth(old):.0f} → {100 * _worth(new):.0f}",
        ]
        for old, new in pairs
    )
    return table(["id", "question", "right", "before", "after", pairs[0][1].headline[0]], rows)


def _named(rows: Sequence[Row], folder: str) -> str:
    return f"{rows[0].backend} ({folder})"


def _worth(row: Row) -> float:
    return row.headline[1]
