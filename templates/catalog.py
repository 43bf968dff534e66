"""Which templates there are: a folder each, with a `template.toml` and the files of its `project/`.

Knows how a template describes itself; not how it is rendered. A new template is a new folder, and nothing else changes.

    title = "Ask your documents"        one line for `remask new --list`
    order = 1                           its place in that list
    shared = true                       whether it also gets the files that all projects share
    serve = true                        whether its container is a server over documents/; otherwise it runs agent.py
    first = 'python agent.py "Who?"'    what to type first in the new project

    [values]                            further names for its files, beside those that `render` gives
    port = 8000
"""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import TemplateBroken, UnknownTemplate

HOME = Path(__file__).parent
DESCRIPTION = "template.toml"
SHARED = HOME / "shared" / "project"


class Template(BaseModel):
    """A template as its folder describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    folder: Path
    title: str
    order: int = 100
    shared: bool = False
    serve: bool = False
    first: str
    values: dict[str, str | int | float | bool] = {}

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders its files come from; a later one's file replaces an earlier one's of the same path."""
        own = self.folder / "project"
        return (SHARED, own) if self.shared else (own,)


def catalog(home: Path = HOME) -> list[Template]:
    """All templates, in their order. Raises TemplateBroken for one whose description can't be read."""
    found = [_read(path) for path in home.glob(f"*/{DESCRIPTION}")]
    return sorted(found, key=lambda template: (template.order, template.name))


def template(name: str, home: Path = HOME) -> Template:
    """Reads this one only. Raises UnknownTemplate, which names those there are."""
    described = {path.parent.name: path for path in sorted(home.glob(f"*/{DESCRIPTION}"))}
    if name not in described:
        raise UnknownTemplate(f"{name!r} is no template. There are: {', '.join(described)}. See: remask new --list")
    return _read(described[name])


def _read(path: Path) -> Template:
    try:
        described = tomllib.loads(path.read_text(encoding="utf-8"))
        return Template(name=path.parent.name, folder=path.parent, **described)
    except (ValueError, TypeError, ValidationError) as error:
        raise TemplateBroken(f"{str(path)!r} describes no template: {error}. Reinstall remask, or mend it.") from error
