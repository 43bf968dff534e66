"""Whatever a caller calls documents, as documents. Knows files and records by `remask.retrieval` only."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..retrieval.document import Document
from ..retrieval.errors import DocumentUnreadable, InvalidDocuments

One = str | Path | Document | Mapping[str, object]
"""A file or folder, a document, or a record with a `text` and perhaps an `id`, a `title` and further fields."""
Documents = One | Iterable[One]


class Gathering(Iterator[Document]):
    """The documents, lazily and once. `skipped` has a line for each file that could not be read, complete at the end.

    Raises DocumentUnreadable for a path that does not exist, InvalidDocuments for something that is no document.
    """

    def __init__(self, given: Documents) -> None:
        self.skipped: list[str] = []
        self._documents = self._gathered([given] if isinstance(given, str | Path | Document | Mapping) else list(given))

    def __next__(self) -> Document:
        return next(self._documents)

    def _gathered(self, given: list[One]) -> Iterator[Document]:
        paths = [Path(one) for one in given if isinstance(one, str | Path)]
        records = [one for one in given if isinstance(one, Mapping)]
        documents = [one for one in given if isinstance(one, Document)]
        if len(paths) + len(records) + len(documents) < len(given):
            odd = next(one for one in given if not isinstance(one, str | Path | Document | Mapping))
            raise InvalidDocuments(f"{odd!r} is no document. Give paths, Documents, or records with a 'text'")
        yield from documents
        yield from _from_records(records)
        yield from self._from_files(paths)

    def _from_files(self, paths: list[Path]) -> Iterator[Document]:
        if not paths:
            return
        from ..retrieval.load import load  # brings the readers of all formats

        for path in paths:
            if not path.exists():
                raise DocumentUnreadable(path, "there is no such file or folder. A string is taken as a path")
        loading = load(paths)
        yield from loading
        self.skipped += [str(note) for note in loading.skipped]


def _from_records(records: list[Mapping[str, object]]) -> Iterator[Document]:
    if records:
        from ..retrieval.records import from_records

        yield from from_records(records)
