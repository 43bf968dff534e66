"""Documents and passages of an index folder, read when they are asked for: a million open as fast as ten.

A line of JSON each, whose places in the file are an array beside it. Knows nothing of rankings.
"""

# N passages, M documents

import hashlib
import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .document import Document, Passage, Scalar, Span

Places = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
KEPT = 4096
"""How many documents stay in memory once they were read."""


class Lines:
    """Lines of a file by their number. `starts` has one place more than there are lines."""

    def __init__(self, path: Path, starts: Places) -> None:
        self._starts = starts
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
        if len(starts) == 0 or int(starts[-1]) != len(self._data):
            raise ValueError(f"{path.name} has {len(self._data)} bytes, and its places say otherwise")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._data[int(self._starts[number]) : int(self._starts[number + 1])])

    def __iter__(self) -> Iterator[bytes]:
        return (self[number] for number in range(len(self)))


class Shelf(Mapping[str, Document]):
    """Documents by id, in their order. `keys` are the sorted hashes of their ids, `order` the document that each is of."""

    def __init__(self, lines: Lines, keys: Keys, order: Places) -> None:
        self._lines = lines
        self._keys = keys
        self._order = order
        self._read = lru_cache(maxsize=KEPT)(self._parsed)

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return (self.at(number).id for number in range(len(self)))

    def __getitem__(self, document_id: str) -> Document:
        key = hashed(document_id)
        place = int(np.searchsorted(self._keys, key))
        while place < len(self._keys) and self._keys[place] == key:
            document = self.at(int(self._order[place]))
            if document.id == document_id:
                return document
            place += 1
        raise KeyError(document_id)

    def at(self, number: int) -> Document:
        return self._read(number)

    def _parsed(self, number: int) -> Document:
        return Document.model_validate_json(self._lines[number])


class Passages(Sequence[Passage]):
    """Passages by their position. `owners` says which document each was cut from; `kinds` which line of `metadata` is its
    own, so that a filter reads each metadata once and no text."""

    def __init__(self, lines: Lines, owners: Places, shelf: Shelf, metadata: Lines, kinds: Places) -> None:
        self._lines = lines
        self._owners = owners
        self._shelf = shelf
        self._metadata = metadata
        self._kinds = kinds

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, position: int) -> Passage: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Passage]: ...

    def __getitem__(self, position: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(position, slice):
            return tuple(self[one] for one in range(*position.indices(len(self))))
        if not -len(self) <= position < len(self):
            raise IndexError(position)
        position %= len(self)
        return passage(json.loads(self._lines[position]), self._shelf.at(int(self._owners[position])))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def metadata(self) -> Iterator[Mapping[str, Scalar]]:
        """Each that there is, once."""
        return map(json.loads, self._metadata)

    @property
    def kinds(self) -> Places:
        """(N,) which of `metadata` each passage has."""
        return self._kinds


def passage(record: Mapping[str, Any], document: Document) -> Passage:
    """From what can't be read off its document."""
    start, end = record["start"], record["end"]
    return Passage(
        document.id,
        document.text[start:end],
        start,
        end,
        title=record.get("title", document.title),
        metadata=record.get("metadata", document.metadata),
        sentences=tuple(Span(*pair) for pair in record.get("sentences", ())),
    )


def hashed(document_id: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(document_id.encode(), digest_size=8).digest(), "big"))
