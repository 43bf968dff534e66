"""A template's files, rendered in memory. Knows no disk to write to.

A file whose name ends in `.jinja` is a Jinja template: it loses the ending, and the names below are filled in. Any other
file is copied byte for byte, so that Python code in a template is code that tools can read. Names in files:

    name            the project's name, as typed
    module          the same as a Python identifier: `my-bot` is `my_bot`
    template        the template's name
    title           the template's title
    serve           whether the project's container is a server
    remask_version  the version that made it

A name that is not given is an error, never an empty string.
"""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, StrictUndefined, TemplateError

from .catalog import Template
from .errors import TemplateBroken

RENDERED = ".jinja"
# Made by Python, pip and tools where a template's own files were run or installed; never part of a project.
LEFTOVERS = {"__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache"}

Files = Mapping[str, bytes]
"""A project: contents by path, with `/` between folders."""


def render(template: Template, name: str) -> Files:
    """The files of a project called `name`, in the order of their paths. Raises TemplateBroken."""
    sources = {target: path for root in template.roots for target, path in _sources(root)}
    if not sources:
        raise TemplateBroken(f"the template {template.name!r} has no files in {str(template.folder / 'project')!r}.")
    names = {**_names(template, name), **template.values}
    return {target: _contents(sources[target], names) for target in sorted(sources)}


def module(name: str) -> str:
    """A project's name as a Python identifier.

    >>> module("My-Bot.2")
    'my_bot_2'
    """
    return name.lower().replace("-", "_").replace(".", "_")


def _names(template: Template, name: str) -> dict[str, str | bool]:
    return {
        "name": name,
        "module": module(name),
        "template": template.name,
        "title": template.title,
        "serve": template.serve,
        "remask_version": version("remask"),
    }


def _sources(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and not LEFTOVERS & set(inside.parts):
            yield inside.as_posix().removesuffix(RENDERED), path


def _contents(path: Path, names: Mapping[str, str | int | float | bool]) -> bytes:
    if path.suffix != RENDERED:
        return path.read_bytes()
    # What comes out is code and configuration, not HTML.
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    try:
        return environment.from_string(path.read_text(encoding="utf-8")).render(names).encode()
    except TemplateError as error:
        raise TemplateBroken(f"{str(path)!r} can't be rendered: {error}.") from error
