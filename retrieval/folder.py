"""The files of a folder, in an order that is the same everywhere. Nothing here opens a file."""

import os
from collections.abc import Iterator
from pathlib import Path

from .formats import reader_for
from .source import Note


def files_in(folder: Path) -> Iterator[Path | Note]:
    """Sorted by name, a folder's own files before those of its subfolders; hidden files and folders are left out.

    Links to folders are not followed, so loops end. A link to a file is read only where its target would not be met
    anyway, and never outside the folder.
    """
    failures: list[Note] = []
    real_folder = os.path.realpath(folder)

    def failed(error: OSError) -> None:
        failures.append(Note(Path(error.filename), error.strerror or "can't be opened"))

    for parent, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith("."):
                continue
            if not path.is_symlink():
                yield path
            elif reader_for(path):
                yield from _linked(path, real_folder)
        yield from failures
        failures.clear()
    yield from failures


def _linked(path: Path, real_folder: str) -> Iterator[Path | Note]:
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(real_folder):
        yield Note(path, "a link that leads out of the folder is not followed", "warning")
    elif not target.is_file():
        yield Note(path, "a broken link")
    elif _hidden(target.relative_to(real_folder)) or not reader_for(target):
        yield path


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
