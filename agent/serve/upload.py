"""Files that a client sends, as documents. Each is read in a folder of its own that is gone afterwards.

A file's name chooses its reader and becomes its document's id. It is never a path: see `plain_name`.
"""

import re
import tempfile
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request

from ...retrieval.document import Document
from ...retrieval.formats import READERS, reader_for
from ...retrieval.load import load
from .errors import InvalidRequest, Unreadable

MOST_FILES = 32
LONGEST_NAME = 120
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Uploaded:
    """`notes` has a line for whatever may not be as its author wrote it."""

    documents: list[Document]
    replace: bool
    notes: list[str]


async def uploaded(request: Request, *, max_bytes: int) -> Uploaded:
    """The files of a form. All or none: raises Unreadable for the first that can't be read, InvalidRequest for a form
    that has none. `max_bytes` limits each file also once it is unpacked."""
    async with request.form(max_files=MOST_FILES, max_fields=8, max_part_size=1024) as form:
        files = [part for part in form.getlist("files") if isinstance(part, UploadFile)]
        if not files:
            raise InvalidRequest("the form has no files. Send them in fields named 'files'")
        replace = str(form.get("replace", "")).lower() in ("true", "1", "on")
        with tempfile.TemporaryDirectory(prefix="remask-upload-") as folder:
            paths = [await _kept(file, Path(folder)) for file in files]
            # Not in the queue of the answers' steps: a large PDF takes long.
            documents, notes = await run_in_threadpool(_read, paths, max_bytes)
    return Uploaded(documents, replace, notes)


def plain_name(name: str) -> str:
    """A file's name without any folder. Raises InvalidRequest where nothing usable is left.

    >>> plain_name("../../etc/notes.txt"), plain_name("C:\\\\Users\\\\a\\\\b c.md")
    ('notes.txt', 'b c.md')
    """
    last = re.split(r"[/\\\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else "_" for c in last).strip(" .")
    if not kept or len(kept.encode("utf-8", "replace")) > LONGEST_NAME:
        raise InvalidRequest(
            f"{name[:80]!r} can't be a document's name. Use up to {LONGEST_NAME} bytes of plain letters"
        )
    if not reader_for(Path(kept)):
        raise InvalidRequest(f"{kept!r} is of a kind that can't be read. Send one of: {' '.join(READERS)}")
    return kept


async def _kept(file: UploadFile, folder: Path) -> Path:
    path = folder / plain_name(file.filename or "")
    assert path.parent == folder
    if path.exists():
        raise InvalidRequest(f"two files are called {path.name!r}. Give each its own name")
    with path.open("xb") as out:
        while block := await file.read(BLOCK_BYTES):
            out.write(block)
    return path


def _read(paths: Sequence[Path], max_bytes: int) -> tuple[list[Document], list[str]]:
    loading = load(paths, max_bytes=max_bytes)
    documents = [_without_path(document) for document in loading]
    if loading.skipped:
        first = loading.skipped[0]
        raise Unreadable(f"{first.path.name}: {first.reason}")
    return documents, [f"{note.path.name}: {note.reason}" for note in loading.warnings]


def _without_path(document: Document) -> Document:
    """Where it lay for a moment is no one's business."""
    return document.model_copy(update={"metadata": {k: v for k, v in document.metadata.items() if k != "path"}})
