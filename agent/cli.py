"""The program `remask`: its commands, those that other packages add, and what becomes of an error.

Stays quick to import: whatever needs a model or an index is imported by the command that uses it.
"""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from . import commands
from .console import EXIT_CODES, MARKUP, CommandError, Exit, UsageError, complain, output
from .remembering import app as sessions
from .serve.command import serve

EXTENSIONS = "remask.commands"
"""The entry-point group in which a package offers further commands: a name, and a typer app or a plain function.
Every start of the program imports them, so they should import their own heavy libraries late, too."""

# typer exports this class of usage errors only through its children.
ParsingError: type[Exception] = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """The built-in commands, then those of the entry points."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        return [*own, *sorted(name for name in _extensions() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _extensions():
            return own
        try:
            return _as_command(cmd_name, _extensions()[cmd_name].load())
        except Exception as error:
            # One broken extension must not take the other commands with it.
            complain(f"the command {cmd_name!r} could not be loaded: {error}. Reinstall the package that adds it.")
            return None


def _extensions() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=EXTENSIONS)}


def _as_command(name: str, offered: Any) -> Any:
    app = offered
    if not isinstance(offered, typer.Typer):
        app = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        app.command(name)(offered)
    command = get_command(app)
    command.name = name
    return command


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=MARKUP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Ask your documents. A diffusion model drafts an answer in parallel, re-masks what it doubts, and cites.",
    epilog=EXIT_CODES,
)
app.command("index")(commands.index)
app.command("ask")(commands.ask)
app.command("chat")(commands.chat)
app.add_typer(sessions, name="sessions")
app.command("backends")(commands.backends)
app.command("serve")(serve)
app.command("train")(commands.train)
app.command("schema")(commands.schema)


@app.callback(invoke_without_command=True)
def options(
    ctx: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and leave.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    if show_version:
        output().print(f"remask {version('remask')}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and gives its exit code. Errors that its user can mend become one line."""
    # Else threads spin long while they wait for each other; beside one other busy program that made answers 30 times slower.
    # Not spinning at all costs a fifth on a quiet machine: 142 ms a search and a draft, 118 after so many turns (medians of 40
    # questions, two cores), 178 and 184 beside a busy program.
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        os.environ |= {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given[: given.index("--") if "--" in given else None]
    if debug:
        given.remove("--debug")  # So that it is understood behind the command, too.
    try:
        code = app(given, prog_name="remask", standalone_mode=False)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except ParsingError as error:
        complain(_usage(error))
        return Exit.USAGE
    except Exception as error:
        if debug or not _mendable(error):
            raise
        complain(str(error) or type(error).__name__)
        return Exit.USAGE if isinstance(error, UsageError) else Exit.FAILED
    return code if isinstance(code, int) else Exit.DONE


def _usage(error: Any) -> str:
    where = error.ctx.command_path if error.ctx else "remask"
    return f"{error.format_message()} See: {where} --help"


def _mendable(error: Exception) -> bool:
    if isinstance(error, CommandError | OSError):
        return True
    from ..dllm.errors import ModelError
    from ..retrieval.errors import RetrievalError
    from .errors import AgentError

    return isinstance(error, AgentError | ModelError | RetrievalError)
