"""An index folder: files written aside, switched in one step, checked when read. Knows nothing of what the files mean.

DIR/manifest.json names one generation folder, DIR/gen-..., and the hash of every file in it. A writer fills a new
generation and then replaces the manifest, so a kill at any moment leaves one or the other whole. Nothing is ever
unpickled, and files that the manifest doesn't name are never opened.
"""

import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .errors import IndexBusy, IndexUnusable
from .manifest import REBUILD, FileRecord, Manifest, parse

Loaded = TypeVar("Loaded")

MANIFEST = "manifest.json"
MAKE_ONE = "Make an index with: remask index DOCUMENTS --out FOLDER"
_LOCK = ".lock"
_GENERATION = re.compile(r"gen-[0-9a-f]{16}")
_OURS = re.compile(rf"{_GENERATION.pattern}|manifest\.json|\.manifest-[0-9a-f]+|\.lock")


def is_index(path: Path) -> bool:
    """Whether there is an index, sound or not. A path that can never become one raises IndexUnusable."""
    with _told(path):
        if path.exists() and not path.is_dir():
            raise IndexUnusable(f"{path}: is a file. An index is a folder: choose another path")
        if (path / MANIFEST).exists():
            return True
        strangers = [name for name in os.listdir(path) if not _OURS.fullmatch(name)] if path.exists() else []
    if strangers:
        raise IndexUnusable(
            f"{path}: is no index and not empty (it holds {min(strangers)!r}). Choose an empty or a new folder"
        )
    return False


def read_manifest(path: Path) -> Manifest:
    with _told(path):
        if not path.exists():
            raise IndexUnusable(f"{path}: there is no such folder. {MAKE_ONE}")
        if not path.is_dir():
            raise IndexUnusable(f"{path}: is a file. An index is a folder: choose another path")
        file = path / MANIFEST
        if file.is_symlink() or not file.is_file():
            raise IndexUnusable(f"{path}: is no index: it has no {MANIFEST}. {MAKE_ONE}")
        return parse(file.read_bytes(), file)


def read(path: Path, load: Callable[[Path, Manifest], Loaded]) -> Loaded:
    """`load` the current generation's folder once all its files have proved whole.

    A writer may replace and remove a generation while it is being read: then the next one is read.
    """
    while True:
        manifest = read_manifest(path)
        try:
            folder = _checked(path, manifest)
            with _told(folder):
                return load(folder, manifest)
        except IndexUnusable:
            if read_manifest(path).generation == manifest.generation:
                raise


def _checked(path: Path, manifest: Manifest) -> Path:
    folder = path / manifest.generation
    if not _GENERATION.fullmatch(manifest.generation) or folder.is_symlink():
        raise IndexUnusable(f"{folder}: leads out of the index. {REBUILD}")
    for name, record in manifest.files.items():
        file = folder / name
        if Path(name).name != name or file.is_symlink():
            raise IndexUnusable(f"{file}: leads out of the index. {REBUILD}")
        with _told(file):
            size_bytes = file.stat().st_size
            if size_bytes != record.size_bytes:
                raise IndexUnusable(f"{file}: has {size_bytes} bytes where {record.size_bytes} were written. {REBUILD}")
            if _sha256(file) != record.sha256:
                raise IndexUnusable(f"{file}: was changed since it was written. {REBUILD}")
    return folder


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold the right to write, making the folder where there is none. IndexBusy if another has it.

    The system takes the lock back from a process that ends, however it ends.
    """
    is_index(path)
    with _told(path):
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if not _locked(handle):
            raise IndexBusy(f"{path}: another process is writing this index. Try again when it is done")
        yield
    finally:
        os.close(handle)


def write(path: Path, files: Mapping[str, Callable[[Path], None]], manifest: Callable[[str], Manifest]) -> Manifest:
    """Write every file by its own function, then switch. Only inside `writing`.

    `manifest` is given the generation's name; hashes and the seal are filled in here.
    """
    with _told(path):
        generation = f"gen-{secrets.token_hex(8)}"
        folder = path / generation
        folder.mkdir()
        for name, write_to in files.items():
            write_to(folder / name)
            _flush(folder / name)
        _flush(folder)
        records = {
            name: FileRecord(sha256=_sha256(folder / name), size_bytes=(folder / name).stat().st_size) for name in files
        }
        sealed = manifest(generation).model_copy(update={"files": records}).sealed()
        aside = path / f".manifest-{secrets.token_hex(4)}"
        aside.write_text(sealed.model_dump_json(indent=1), encoding="utf-8")
        _flush(aside)
        os.replace(aside, path / MANIFEST)
        _flush(path)
        _sweep(path, keep=generation)
    return sealed


def _sweep(path: Path, *, keep: str) -> None:
    """Remove what earlier writers left. A reader that has an old generation open keeps it."""
    for entry in path.iterdir():
        if _GENERATION.fullmatch(entry.name) and entry.name != keep:
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name.startswith(".manifest-"):
            entry.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    if path.is_dir() and sys.platform == "win32":
        return  # Windows can't open a folder
    handle = os.open(path, os.O_RDONLY if sys.platform != "win32" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _locked(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK):
            return False
        raise
    return True


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """The system's refusals, in our words."""
    try:
        yield
    except PermissionError as error:
        raise IndexUnusable(
            f"{error.filename or path}: permission denied. Change its mode, or choose another folder"
        ) from error
    except FileNotFoundError as error:
        raise IndexUnusable(f"{error.filename or path}: is missing. {REBUILD}") from error
    except OSError as error:
        raise IndexUnusable(f"{error.filename or path}: {error.strerror or error}. Choose another folder") from error
