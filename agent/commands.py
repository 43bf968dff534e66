"""What each command takes, in words. What it does is imported when it runs, so that help appears at once."""

from pathlib import Path
from typing import Annotated

import typer

from .console import UsageError, output
from .remembering import SessionsOption

IndexOption = Annotated[
    Path | None, typer.Option("--index", help="An index made by `remask index`.", show_default=False)
]
DocsOption = Annotated[
    list[Path] | None,
    typer.Option("--docs", help="Files and folders to ask without an index. May be repeated.", show_default=False),
]


def index(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder of the index.", show_default=False)],
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="A model's name or folder. [default: the packaged MiniLM]", show_default=False),
    ] = None,
) -> None:
    """Read documents into an index, or bring an index up to date.

    Reads .txt, .md, .html, .pdf, .docx, .csv, .json, .jsonl and .jsonl.gz. A file that can't be read is named with the
    reason and skipped; the rest goes on, and the exit code is 3. What the index has already is not embedded again.
    """
    from .indexing import index as run

    raise typer.Exit(run(paths, out, embedder=embedder))


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    index: IndexOption = None,
    docs: DocsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON (see `remask schema`).")] = False,
) -> None:
    """Answer one question, with citations.

    In a terminal the canvas is shown as it fills in: masked words are blocks, new words bold, re-masked ones struck out
    with the reason. Into a pipe goes plain text. The exit code is 4 when the documents carry no answer.
    """
    _check_one_source(index, docs)
    from .asking import ask as run

    raise typer.Exit(run(question, index=index, docs=docs or [], as_json=as_json))


def chat(
    index: IndexOption = None,
    docs: DocsOption = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", help="Remember the conversation by this name, and go on with it.", show_default=False
        ),
    ] = None,
    file: SessionsOption = None,
) -> None:
    """Answer one question after another. An empty line, Ctrl-D or Ctrl-C ends it.

    A follow-up such as "and who founded it?" is asked in full. Without --session nothing is kept.
    """
    _check_one_source(index, docs)
    from .asking import chat as run

    raise typer.Exit(run(index=index, docs=docs or [], session=session, file=file))


def train(
    data: Annotated[Path, typer.Option("--data", help="The folder with the mixture's files.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder of the run; an old run goes on.", show_default=False)],
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0, help="Stop after so long; start again to go on.", show_default=False),
    ] = None,
    mixture: Annotated[
        Path | None,
        typer.Option(
            "--mixture", help="A TOML file of sources and weights. [default: the shipped one]", show_default=False
        ),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option(
            "--tokens",
            min=1,
            help="Prompt tokens of the whole schedule. [default: the shipped reader's]",
            show_default=False,
        ),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="cpu, cuda, or mps.")] = "cpu",
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Weights a new run begins with, such as an earlier reader.safetensors. [default: the encoder's]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Train the embedded reader. Progress and a score on held-out rows go to standard error."""
    from .training import train as run

    run(data, out, minutes=minutes, tokens=tokens, mixture=mixture, device=device, start=start)
    output().print(str(out / "reader.safetensors"))


def schema() -> None:
    """Print the JSON schema of an answer."""
    import json

    from .answer import Answer

    output().print(json.dumps(Answer.model_json_schema(), indent=2))


def _check_one_source(index: Path | None, docs: list[Path] | None) -> None:
    if (index is None) == (not docs):
        raise UsageError("give either --index DIR or --docs PATH. See --help")
