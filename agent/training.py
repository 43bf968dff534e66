"""`remask train`: the reader's trainer with a line of progress now and then. Knows no documents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..dllm.mini.dev import dev_score
from ..dllm.mini.mixture import Source
from ..dllm.mini.model import Reader
from ..dllm.mini.train import Progress, Trainer, TrainOptions
from ..dllm.mini.weights import load_words
from .console import CommandError, progress

FOREVER = float("inf")


def train(
    data: Path,
    out: Path,
    *,
    minutes: float | None,
    tokens: int | None,
    mixture: Path | None,
    device: str,
    start: Path | None = None,
    frozen: int = 0,
) -> Progress:
    """Begins a run or goes on with the one in `out`. Lines of progress go to standard error."""
    options = TrainOptions(device=_device(device), start=start, frozen=frozen)
    if tokens is not None:
        options = replace(options, total_tokens=tokens)
    if mixture is not None:
        options = replace(options, mixture=mixture)
    if not data.is_dir():
        raise CommandError(f"--data {str(data)!r} is not a folder. Give the one that holds the mixture's files.")
    words, console = load_words(), progress()

    def score(reader: Reader, sources: Sequence[Source]) -> dict[str, float]:
        return dev_score(reader, sources, words, options.layout)

    console.print("reading the data", soft_wrap=True)
    trainer = Trainer(data, out, options, score=score)
    if trainer.progress.step:
        console.print(f"going on after step {trainer.progress.step} of the run in {out}", soft_wrap=True)
    seconds = FOREVER if minutes is None else 60 * minutes
    return trainer.run(seconds=seconds, report=lambda row: console.print(told(row, options), soft_wrap=True))


def told(row: Mapping[str, Any], options: TrainOptions) -> str:
    """One line: where the run stands, then what was measured.

    >>> told({"step": 50, "tokens": 7_000_000, "seconds": 90.0, "restarts": 0, "answer": 2.5}, TrainOptions())
    'step 50, 50% of 14000000 tokens, 1.5 min: answer 2.5'
    """
    share = row["tokens"] / options.total_tokens
    known = {"step", "tokens", "seconds", "restarts"}
    measured = "  ".join(f"{name} {value}" for name, value in row.items() if name not in known)
    return (
        f"step {row['step']}, {share:.0%} of {options.total_tokens} tokens, {row['seconds'] / 60:.1f} min: {measured}"
    )


def _device(name: str) -> str:
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise CommandError(
            f"--device {name!r} can't be used here: {str(error).splitlines()[0]} Leave it out for cpu."
        ) from error
    return name
