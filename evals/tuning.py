"""`remask eval prompts`: every prompt of a baseline on the same questions, so that it gets the one that does best."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..agent.console import UsageError, output
from .autoregressive import AutoregressiveReader
from .backend import Backend
from .hotpotqa import Variants, Where, plan, run
from .prompts import answering
from .report import Report, scores_table

SLOTS = 2
"""Prompts that a runtime may keep what it read of: those that begin with passages, and those that begin with examples."""


def variants(chosen: Sequence[str]) -> Variants:
    """Each backend once for each prompt; all prompts where none is chosen."""

    def all_of(backends: list[Backend]) -> list[Backend]:
        return [_with(backend, name) for backend in backends for name in chosen or answering()]

    return all_of


def tune(
    data: Path, setting: str, backend: str, chosen: Sequence[str], out: Path, *, limit: int | None, seed: int
) -> Report:
    """Asks, writes the whole folder as `remask eval hotpotqa` does, and prints the table and the best by F1."""
    where: Where = "gold" if setting == "gold" else "distractor"
    made = plan(
        "prompts", data, where, [backend], out=out, limit=limit, seed=seed, variants=variants(chosen), at_once=SLOTS
    )
    found = run(made, out, seed=seed)
    best = max(found.scores, key=lambda scores: scores.metrics["f1"].value)
    output().print(f"{scores_table(found)}\n\nbest by F1: {best.backend}\n{out / 'report.html'}")
    return found


def _with(backend: Backend, name: str) -> Backend:
    if not isinstance(backend.generator, AutoregressiveReader):
        raise UsageError(f"{backend.name!r} takes no prompt. Name a model that writes, such as smollm2")
    reader = AutoregressiveReader(backend.generator.writer, instruction=name)
    return replace(backend, name=f"{backend.name}, prompt {name}", generator=reader, prompt=str(reader.template))
