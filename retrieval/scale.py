"""What building, keeping and asking an index costs by size: `python -m remask.retrieval.scale --out DIR`.

Ten thousand, a hundred thousand and a million passages by default: half an hour on two processors, of which the graph of a
million takes half, and some 6 GB of memory and 10 GB of disk. Every engine is measured in a process of its own, so that its
memory is its own.
"""

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import typer

from .costs import Cost, Setting, page, picture
from .engines import ENGINES, LEFT_BY, Task, measured, prepare
from .load import load
from .synthetic import WIKIPEDIA, TextModel, passages_of

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", help=__doc__)
Result = TypeVar("Result")
SIZES = (10_000, 100_000, 1_000_000)
_KEPT = "costs.jsonl"


@app.command()
def scale(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Where scale.md and scale.png go. What it holds from a run cut short is not measured again."
        ),
    ] = None,
    size: Annotated[list[int] | None, typer.Option("--size", min=100, help="May be repeated.")] = None,
    engine: Annotated[list[str] | None, typer.Option("--engine", help=f"May be repeated: {', '.join(ENGINES)}")] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="Files to fit the text to, not Wikipedia.")] = None,
    queries: Annotated[int, typer.Option("--queries", min=2)] = 200,
    dimension: Annotated[int, typer.Option("--dimension", min=2)] = 384,
    threads: Annotated[int, typer.Option("--threads", min=1)] = 2,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    work: Annotated[Path | None, typer.Option("--work", help="A folder with room; emptied afterwards.")] = None,
) -> None:
    """Measure every engine at every size, one after the other."""
    unknown = set(engine or ()) - set(ENGINES)
    if unknown:
        raise typer.BadParameter(f"{min(unknown)!r} is no engine. Use {', '.join(ENGINES)}")
    name, model = _text(corpus)
    setting = Setting(
        corpus=name,
        exponent=model.exponent,
        tail=model.tail,
        mean_words=float(np.mean(model.lengths)),
        dimension=dimension,
        queries=queries,
        threads=threads,
        machine=f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {platform.system()}",
        seed=seed,
    )
    costs = _begun(out, setting)
    chosen = [one for one in ENGINES if not engine or one in engine]
    for many in sorted(size or SIZES):
        done = {cost.engine for cost in costs if cost.passages == many}
        missing = [one for one in chosen if one not in done]
        if not missing:
            continue
        folder = Path(tempfile.mkdtemp(prefix=f"scale-{many}-", dir=work))
        try:
            task = Task("", many, folder, model, dimension, queries, threads, seed)
            _apart(prepare, task)
            for one in _in_order(missing):
                cost = _apart(measured, replace(task, engine=one))
                if one in missing:
                    costs.append(cost)
                    _keep(out, cost)
                    typer.echo(cost.model_dump_json(exclude_none=True))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    costs.sort(key=lambda cost: (cost.passages, ENGINES.index(cost.engine)))
    text = page(costs, setting)
    typer.echo(text)
    if out:
        (out / "scale.md").write_text(text, encoding="utf-8")
        (out / "scale.png").write_bytes(picture(costs))


def _text(corpus: Path | None) -> tuple[str, TextModel]:
    if corpus is None:
        return "16,837 paragraphs of Wikipedia", WIKIPEDIA
    texts = passages_of(document.text for document in load(corpus))
    return f"{corpus.name} ({len(texts):,} pieces)", TextModel.fitted(texts)


def _in_order(missing: Sequence[str]) -> list[str]:
    """Those engines, and before them the ones whose leavings they use, though measured before or not asked for."""
    wanted = {*missing, *(before for one in missing for before in LEFT_BY.get(one, ()))}
    return [one for one in ENGINES if one in wanted]


def _begun(out: Path | None, setting: Setting) -> list[Cost]:
    """What an earlier run in this folder measured; a new folder is begun."""
    if out is None:
        return []
    out.mkdir(parents=True, exist_ok=True)
    kept = out / _KEPT
    if not kept.exists():
        kept.write_text(setting.model_dump_json() + "\n", encoding="utf-8")
        return []
    try:
        told = kept.read_text(encoding="utf-8")
        if not told.endswith("\n") and "\n" in told:  # a run that was killed while it wrote
            told = told[: told.rindex("\n") + 1]
            kept.write_text(told, encoding="utf-8")
        first, *lines = told.splitlines()
        earlier, costs = Setting.model_validate_json(first), [Cost.model_validate_json(line) for line in lines]
    except ValueError as error:
        raise typer.BadParameter(f"{kept} can't be read ({error}). Delete it, or use another folder") from error
    if earlier != setting:
        mine, theirs = setting.model_dump(), earlier.model_dump()
        other = next(name for name in mine if mine[name] != theirs[name])
        raise typer.BadParameter(
            f"{out} holds a run with {other} = {theirs[other]!r}, not {mine[other]!r}. Use another folder for --out"
        )
    return costs


def _keep(out: Path | None, cost: Cost) -> None:
    if out:
        with (out / _KEPT).open("a", encoding="utf-8") as file:
            file.write(cost.model_dump_json() + "\n")


def _apart(work: Callable[[Task], Result], task: Task) -> Result:
    """In a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, task).result()


if __name__ == "__main__":
    app()
