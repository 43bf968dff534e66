"""What each command takes, in words. What it does is imported when it runs, so that help appears at once."""

from pathlib import Path
from typing import Annotated

import typer

from .console import UsageError, output
from .remembering import SessionsOption

IndexOption = Annotated[
    Path | None,
    typer.Option("--index", help="An index made by `remask index`, or milvus:URI#NAME.", show_default=False),
]
DocsOption = Annotated[
    list[Path] | None,
    typer.Option("--docs", help="Files and folders to ask without an index. May be repeated.", show_default=False),
]
BackendOption = Annotated[
    str | None,
    typer.Option(
        "--backend", help="The model, as `remask backends` lists them. [default: embedded]", show_default=False
    ),
]


def index(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", help="The folder of the index.", show_default=False)] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="Instead of --out, a collection: milvus:http://HOST:19530#NAME, or milvus:FILE.db#NAME.",
            show_default=False,
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="A model's name or folder. [default: the packaged MiniLM]", show_default=False),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Forget documents of these paths whose file or row is gone.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", help="Read, split and embed on a Ray cluster: its address, auto, or local.", show_default=False
        ),
    ] = None,
) -> None:
    """Read documents into an index, or bring an index up to date.

    Reads .txt, .md, .html, .pdf, .docx, .csv, .json, .jsonl and .jsonl.gz. A file that can't be read is named with the
    reason and skipped; the rest goes on, and the exit code is 3. What the index has already is not embedded again.
    Documents whose files are gone stay until --prune is given; a line says how many there are.
    """
    if (out is None) == (store is None):
        raise UsageError("give either --out DIR or --store milvus:URI#NAME. See remask index --help")
    from .indexing import index as run

    raise typer.Exit(run(paths, out or store or "", embedder=embedder, prune=prune, ray=ray))


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", show_default=False)],
    index: IndexOption = None,
    docs: DocsOption = None,
    backend: BackendOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON (see `remask schema`).")] = False,
) -> None:
    """Answer one question, with citations.

    In a terminal the canvas is shown as it fills in: masked words are blocks, new words bold, re-masked ones struck out
    with the reason. Into a pipe goes plain text. The exit code is 4 when the documents carry no answer.
    """
    _check_one_source(index, docs)
    from .asking import ask as run

    raise typer.Exit(run(question, index=index, docs=docs or [], backend=backend, as_json=as_json))


def chat(
    index: IndexOption = None,
    docs: DocsOption = None,
    backend: BackendOption = None,
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

    raise typer.Exit(run(index=index, docs=docs or [], backend=backend, session=session, file=file))


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
    frozen: Annotated[
        int,
        typer.Option("--frozen", min=0, max=6, help="So many layers, the lowest, stay as they are: a step costs less."),
    ] = 0,
) -> None:
    """Train the embedded reader. Progress and a score on held-out rows go to standard error."""
    from .training import train as run

    run(data, out, minutes=minutes, tokens=tokens, mixture=mixture, device=device, start=start, frozen=frozen)
    output().print(str(out / "reader.safetensors"))


def backends(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Backends to look at closely, such as llada:FOLDER.", show_default=False),
    ] = None,
) -> None:
    """List the models that can be asked: which are ready, what is missing, and the command that gets it.

    A checkpoint that is named is told with its size and whether it fits into memory, before anything is loaded; a server,
    with whether it answers and has the model.
    """
    from .backends import backends as run

    raise typer.Exit(run(names or []))


def schema() -> None:
    """Print the JSON schema of an answer."""
    import json

    from .answer import Answer

    output().print(json.dumps(Answer.model_json_schema(), indent=2))


def _check_one_source(index: Path | None, docs: list[Path] | None) -> None:
    if (index is None) == (not docs):
        raise UsageError("give either --index DIR or --docs PATH. See --help")
