"""Which file a document was read from, as its metadata says: to notice two files with one id, and files that are gone."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from .document import Document, Scalar
from .errors import InvalidDocuments

PATH = "path"


def origin(metadata: Mapping[str, Scalar]) -> str:
    """The absolute path of the file; "" for a document that came from none.

    >>> origin({"path": "/docs/a.md"}), origin({})
    ('/docs/a.md', '')
    """
    path = metadata.get(PATH)
    return os.path.abspath(path) if isinstance(path, str) and path and "\0" not in path else ""


def check_origins(pairs: Iterable[tuple[str, Mapping[str, Scalar], Document]]) -> None:
    """Each an id with the metadata that it has, and the document about to replace it.

    Raises InvalidDocuments where that comes from another file while the first one is still there: ids are relative to the
    folder that was given, so two folders may hold the same. A file that was moved is no such case.
    """
    clashes = [(key, origin(old), origin(new.metadata)) for key, old, new in pairs if _clash(old, new.metadata)]
    if clashes:
        key, old, new = clashes[0]
        more = f", and {len(clashes) - 1:,} more like it" if len(clashes) > 1 else ""
        raise InvalidDocuments(
            f"the id {key!r} belongs to {old}, which is still there, and {new} would replace it{more}."
            " Index the folder that holds both, or use an index for each"
        )


def gone(
    documents: Iterable[tuple[str, Mapping[str, Scalar]]],
    paths: Iterable[str | Path],
    *,
    read: Collection[str],
    unreadable: Iterable[str | Path] = (),
) -> Iterator[str]:
    """Of documents with their metadata the ids that came from below `paths` and are not among those `read` from there now.
    What came from a file that couldn't be read this time is not gone."""
    folders = [os.path.abspath(path) for path in paths]
    spared = {os.path.abspath(path) for path in unreadable}
    for key, metadata in documents:
        file = origin(metadata)
        if file and key not in read and file not in spared and any(_below(file, folder) for folder in folders):
            yield key


def _clash(old: Mapping[str, Scalar], new: Mapping[str, Scalar]) -> bool:
    one, other = origin(old), origin(new)
    return (
        bool(one and other)
        and one != other
        and os.path.isfile(one)
        and os.path.realpath(one) != os.path.realpath(other)
    )


def _below(file: str, folder: str) -> bool:
    return file == folder or file.startswith(folder.rstrip(os.sep) + os.sep)
