"""What a model writes with its time and its passes. Pure functions over rows."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from .asking import Row
from .interval import Interval, mean, rate
from .table import number, table


class Rates(BaseModel):
    """Of one backend, over the questions it said something to. Tokens are those of the answer that stands, in the model's
    own pieces where it tells them apart, else words: compare them between models of one kind only.

    `per_pass` counts the passes that wrote: over the canvas, or a step of a model that writes word by word; `per_second`
    the time of drafting and refining, reading the prompt included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: str
    tokens: Interval
    per_pass: Interval | None
    per_second: Interval


def rates(rows: Sequence[Row], *, seed: int = 0) -> Rates | None:
    """Of the rows of one backend. None where it never said anything in any time."""
    spoke = [row for row in rows if row.tokens and _seconds(row) > 0]
    if not spoke:
        return None
    tokens = [float(row.tokens) for row in spoke]
    passes = [float(sum(made.index > 0 or made.committed > 0 for made in row.passes)) for row in spoke]
    return Rates(
        backend=spoke[0].backend,
        tokens=mean(tokens, seed=seed),
        per_pass=rate(tokens, passes, seed=seed) if all(passes) else None,
        per_second=rate(tokens, [_seconds(row) for row in spoke], seed=seed),
    )


def rates_table(found: Sequence[Rates]) -> str:
    head = ["backend", "tokens of an answer", "tokens a pass", "tokens a second"]
    return table(head, ([r.backend, number(r.tokens), number(r.per_pass), number(r.per_second)] for r in found))


def _seconds(row: Row) -> float:
    return row.seconds.get("draft", 0.0) + row.seconds.get("refine", 0.0)
