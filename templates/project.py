"""A new project on the disk: what it may be called, and written whole or not at all. Knows no template."""

import keyword
import re
import shutil
import sys
import tempfile
from pathlib import Path

from .errors import FolderUnusable, NameUnusable
from .render import Files, module

# A distribution's name by PyPA's rule, which must begin with a letter so that it can be a module's, too:
# https://packaging.python.org/en/latest/specifications/name-normalization/
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)


def checked_name(name: str) -> str:
    """The name, if a project and a Python module can have it. Raises NameUnusable, which says why not."""
    if not _NAME.fullmatch(name):
        raise NameUnusable(
            f"{name!r} is no name for a package. Use letters, digits, '-', '_' and '.', a letter first and a letter or "
            "a digit last, as in my-bot."
        )
    taken = module(name)
    if keyword.iskeyword(taken) or taken in sys.stdlib_module_names or taken == "remask":
        raise NameUnusable(f"{name!r} is Python's own or remask's. Add a word, as in {name}-bot.")
    return name


def write(files: Files, folder: Path) -> None:
    """Writes a project into a new folder. Raises FolderUnusable, nothing written, where there is something already or
    writing fails."""
    if folder.exists() or folder.is_symlink():
        raise FolderUnusable(f"{str(folder)!r} exists. Nothing is overwritten: choose another name, or move it away.")
    if not folder.parent.is_dir():
        raise FolderUnusable(f"{str(folder.parent)!r} is not a folder. Make it first, or give another one with --into.")
    try:
        _write_aside(files, folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FolderUnusable(
            f"{str(folder)!r} can't be written: {reason}. Choose a folder that you may write to."
        ) from error


def _write_aside(files: Files, folder: Path) -> None:
    """Beside the folder, then renamed in one step, so that nobody sees half a project."""
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        made = aside / folder.name
        for path, contents in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(contents)
        made.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
