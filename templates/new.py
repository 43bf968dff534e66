"""`remask new`: asks for what was not given, at a terminal; renders a template into a new folder; says what to type next."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..agent.console import UsageError, output, printable, progress
from .catalog import Template, catalog, template
from .project import checked_name, write


def new(
    name: Annotated[
        str | None, typer.Argument(help="The project's name, and its folder's.", show_default=False)
    ] = None,
    template_name: Annotated[
        str | None, typer.Option("--template", "-t", help="Which one; see --list.", show_default=False)
    ] = None,
    into: Annotated[Path, typer.Option("--into", help="The folder to make it in.")] = Path(),
    listed: Annotated[bool, typer.Option("--list", help="List the templates and leave.")] = False,
) -> None:
    """Start a project from a template: an agent with documents, tests, an eval, a container.

    At a terminal it asks for what is missing. Nothing is ever overwritten: the folder must be new.
    """
    if listed:
        _list()
        return
    name = checked_name(name or _asked("name", "Name of the project", default="my-bot"))
    chosen = template(template_name or _chosen())
    made = into / name
    from .render import render  # brings Jinja, which --list and --help need not wait for

    write(render(chosen, name), made)
    output().print(f"{made} is ready. Next:\n\n  cd {made}\n  {chosen.first}")


def _list() -> None:
    known = catalog()
    width = max(len(each.name) for each in known)
    for each in known:
        output().print(f"{each.name:{width}}  {each.title}")


def _chosen() -> str:
    known = catalog()
    if _at_terminal():
        for number, each in enumerate(known, 1):
            progress().print(f"{number}  {each.name}: {each.title}", soft_wrap=True)
    return _named(_asked("--template", "Template, by name or number", default=known[0].name), known)


def _named(said: str, known: list[Template]) -> str:
    """A number of the list stands for its name; anything else is a name, right or wrong."""
    if said.isdecimal() and 1 <= int(said) <= len(known):
        return known[int(said) - 1].name
    return said


def _asked(what: str, question: str, *, default: str) -> str:
    """An answer from a person. Raises UsageError where there is none to ask."""
    if not _at_terminal():
        raise UsageError(f"give {'a NAME' if what == 'name' else what}: there is no terminal to ask at. See --help")
    try:
        said: str = typer.prompt(question, default=default, err=True)
    except typer.Abort:
        raise KeyboardInterrupt from None  # Ctrl-D at the question is as good as Ctrl-C
    return printable(said.strip())


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
