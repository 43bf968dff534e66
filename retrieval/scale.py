"""What building, keeping and asking an index costs by size: `python -m remask.retrieval.scale --out DIR`.

Ten thousand, a hundred thousand and a million passages by default; a million takes the graph an hour or so on two cores, and
some 8 GB of memory and disk. Every engine is measured in a process of its own, so that its memory is its own.
"""

import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import typer

from .costs import Cost, Setting, page, picture
from .engines import ENGINES, Task, measured, prepare
from .load import load
from .synthetic import TextModel, passages_of

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", help=__doc__)
Result = TypeVar("Result")
SIZES = (10_000, 100_000, 1_000_000)


@app.command()
def scale(
    out: Annotated[Path | None, typer.Option("--out", help="Where scale.md and scale.png go.")] = None,
    size: Annotated[list[int] | None, typer.Option("--size", min=100, help="May be repeated.")] = None,
    engine: Annotated[list[str] | None, typer.Option("--engine", help=f"May be repeated: {', '.join(ENGINES)}")] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="Files that the text is fitted to.")] = None,
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
    name, model = _fitted(corpus)
    chosen = [one for one in ENGINES if not engine or one in engine]
    costs: list[Cost] = []
    for many in sorted(size or SIZES):
        folder = Path(tempfile.mkdtemp(prefix=f"scale-{many}-", dir=work))
        try:
            task = Task("", many, folder, model, dimension, queries, threads, seed)
            _apart(prepare, task)
            for one in chosen:
                costs.append(_apart(measured, replace(task, engine=one)))
                typer.echo(costs[-1].model_dump_json(exclude_none=True))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    setting = Setting(
        corpus=name,
        exponent=model.exponent,
        shift=model.shift,
        mean_words=float(np.mean(model.lengths)),
        dimension=dimension,
        queries=queries,
        threads=threads,
        machine=f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {platform.system()}",
        seed=seed,
    )
    text = page(costs, setting)
    typer.echo(text)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "scale.md").write_text(text, encoding="utf-8")
        (out / "scale.png").write_bytes(picture(costs))


def _fitted(corpus: Path | None) -> tuple[str, TextModel]:
    where = corpus or Path(__file__).parents[1] / "templates" / "samples"
    texts = passages_of(document.text for document in load(where))
    return f"{where.name} ({len(texts):,} pieces)", TextModel.fitted(texts)


def _apart(work: Callable[[Task], Result], task: Task) -> Result:
    """In a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, task).result()


if __name__ == "__main__":
    app()
