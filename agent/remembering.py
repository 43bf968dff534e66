"""`remask sessions`: what is remembered, shown and deleted. Quick to import: the file is opened by the command that runs."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from .console import CommandError, counted, output, printable

SessionsOption = Annotated[
    Path | None,
    typer.Option("--file", help="The file of sessions. [default: your own data folder's]", show_default=False),
]
NameArgument = Annotated[str, typer.Argument(help="The session's name.", show_default=False)]

app = typer.Typer(no_args_is_help=True, help="List, show and delete the conversations of `remask chat --session`.")


@app.command("list")
def listed(file: SessionsOption = None) -> None:
    """One line a session, the one used last first."""
    from .memory.sessions import Sessions

    if not where(file).exists():
        return
    for info in Sessions(where(file)).list():
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.used))
        output().print(f"{info.name}  {counted(info.turns, 'turn')}  {used}")


@app.command("show")
def show(name: NameArgument, file: SessionsOption = None) -> None:
    """Print what was asked and answered."""
    from .memory.sessions import Sessions

    turns = Sessions(where(file)).turns(name) if where(file).exists() else ()
    if not turns:
        raise _missing(name)
    for turn in turns:
        full = f" ({turn.question})" if turn.question != turn.asked else ""
        output().print(f"? {printable(turn.asked + full)}\n{printable(turn.answer) or 'No answer.'}")


@app.command("delete")
def delete(name: NameArgument, file: SessionsOption = None) -> None:
    """Forget a session."""
    from .memory.sessions import Sessions

    if not where(file).exists() or not Sessions(where(file)).delete(name):
        raise _missing(name)


def where(file: Path | None) -> Path:
    """The file given, or the one in the user's own data folder (XDG's base directories)."""
    if file is not None:
        return file
    home = os.environ.get("XDG_DATA_HOME", "")
    return (
        (Path(home) if Path(home).is_absolute() else Path.home() / ".local" / "share") / "remask" / "sessions.sqlite3"
    )


def _missing(name: str) -> CommandError:
    return CommandError(f"there is no session {name!r}. See them with: remask sessions list")
