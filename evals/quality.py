"""The commands of `remask eval` that judge more than the answer's words, in words. What they do is imported late."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import Baselines, IndexFolder, Limit, Main, Out, Seed, default_out


def task(
    file: Annotated[Path, typer.Argument(help="A task file, TOML: questions and what is wanted.", show_default=False)],
    index: IndexFolder = None,
    docs: Annotated[
        list[Path] | None,
        typer.Option("--docs", help="Files and folders to ask without an index. May be repeated.", show_default=False),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            help="Your own agent, FILE.py:NAME: a function of a question, or an object with `ask`.",
            show_default=False,
        ),
    ] = None,
    backend: Main = "embedded",
    baseline: Baselines = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Ask an agent the questions of a task file, on your own documents: resolved, wrong, held back when it should.

    Writes a row for each answer and a report as JSON, Markdown and HTML. Ctrl-C stops it; the same command goes on. The
    exit code is 1 where a bar that the file sets is missed.
    """
    from . import resolution

    folder = out or default_out("task", "own" if agent else "agent", file)
    names = [backend, *(baseline or [])]
    made = resolution.plan(file, index=index, docs=docs or [], agent=agent, names=names, limit=limit, seed=seed)
    found = resolution.run(made, folder, seed=seed)
    raise typer.Exit(resolution.tell(found, made, folder))
