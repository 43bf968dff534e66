"""`remask serve`: what it takes, in words. What it does is imported when it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import CommandError, UsageError, progress

if TYPE_CHECKING:
    from ...retrieval.index import Index
    from .options import ServeOptions
    from .service import Service

INSTALL = "pip install 'remask[serve]'"


def serve(
    index: Annotated[
        Path | None, typer.Option("--index", help="An index made by `remask index`.", show_default=False)
    ] = None,
    docs: Annotated[
        list[Path] | None,
        typer.Option(
            "--docs", help="Files and folders to serve without an index; changes are not kept.", show_default=False
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8000,
    keys_file: Annotated[
        Path | None,
        typer.Option("--keys-file", help="Ask for a bearer key; a file with one a line.", show_default=False),
    ] = None,
    anyone: Annotated[bool, typer.Option("--anyone", help="Serve other machines without keys.")] = False,
    allow_origins: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", help="Another site whose pages may use this server.", show_default=False),
    ] = None,
    allow_hosts: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Another name this server is reached by.", show_default=False),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Documents can't be added or removed.")] = False,
    backend: Annotated[
        str | None, typer.Option("--backend", help="The model. [default: the embedded reader]", show_default=False)
    ] = None,
    sessions: Annotated[
        Path | None,
        typer.Option("--sessions", help="A file for conversations. [default: kept in memory]", show_default=False),
    ] = None,
    running: Annotated[int, typer.Option("--running", min=1, help="Questions worked on at once.")] = 4,
    waiting: Annotated[int, typer.Option("--waiting", min=0, help="Questions that may wait for a turn.")] = 64,
    threads: Annotated[
        int,
        typer.Option(
            "--threads", min=1, help="Questions computed on at once; the embedded reader makes their passes as one."
        ),
    ] = 1,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="The longest an answer may take.")] = 60,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line for each request.")] = False,
) -> None:
    """Serve an agent over HTTP, with a web page, until Ctrl-C.

    Programs that speak OpenAI's dialect use http://HOST:PORT/v1. The page is at http://HOST:PORT/.
    """
    if (index is None) == (not docs):
        raise UsageError("give either --index DIR or --docs PATH. See --help")
    try:
        from .options import ServeOptions
        from .server import log_to_stderr, run
    except ModuleNotFoundError as error:
        raise CommandError(f"serving needs {error.name}. Install it with: {INSTALL}") from error
    options = ServeOptions(
        host=host,
        port=port,
        anyone=anyone,
        allow_origins=tuple(allow_origins or ()),
        allow_hosts=tuple(allow_hosts or ()),
        read_only=read_only,
        running=running,
        waiting=waiting,
        threads=threads,
        request_seconds=seconds,
    )
    service = _service(index, docs or [], options, keys_file=keys_file, backend=backend, sessions=sessions)
    if not quiet:
        log_to_stderr()
    run(service, started=lambda address: progress().print(f"serving {address} (Ctrl-C ends it)"))


def _service(
    index: Path | None,
    docs: list[Path],
    options: "ServeOptions",
    *,
    keys_file: Path | None,
    backend: str | None,
    sessions: Path | None,
) -> "Service":
    from ...dllm.backends import backend as model
    from ..memory.sessions import Sessions
    from .keys import Keys
    from .server import check_reach
    from .service import Service

    keys = Keys.read(keys_file) if keys_file else Keys()
    check_reach(options, keys=bool(keys.hashes))  # before anything is loaded
    with progress().status("opening the documents and the model"):
        return Service(
            _opened(index, docs),
            model(backend or "embedded"),
            options=options,
            keys=keys,
            sessions=Sessions(sessions),
            saved=index is not None,
        )


def _opened(index: Path | None, docs: list[Path]) -> "Index":
    from ...retrieval.index import Index
    from ..indexing import read

    if index:
        return Index.open(index)
    documents, _ = read(docs)
    return Index.create(documents)
