"""A file that is being read, and what there is to say about it besides its documents."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from .document import Document
from .errors import DocumentUnreadable


class Note(NamedTuple):
    """`skipped`: something was not loaded. `warning`: it was, and may not be what its author wrote."""

    path: Path
    reason: str
    kind: Literal["skipped", "warning"] = "skipped"

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


BLOCK_BYTES = 1 << 16

Found = Document | Note
"""What reading a file yields."""


@dataclass(frozen=True, slots=True)
class Source:
    """`id` is the id of its document, or the first part of the ids of its records."""

    path: Path
    id: str
    max_bytes: int

    def read(self) -> bytes:
        """The whole file. Raises OSError, or DocumentUnreadable when it is too large."""
        with self.path.open("rb") as file:
            return self.limited(file)

    def limited(self, file: BinaryIO) -> bytes:
        blocks, total = [], 0
        # Asked for all that is allowed at once, Python makes room for it first: 200 MB for a note of three lines.
        while block := file.read(min(BLOCK_BYTES, self.max_bytes - total + 1)):
            blocks.append(block)
            total += len(block)
            self.check(total)
        return b"".join(blocks)

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """One at a time, so that what a small archive unpacks to is bounded too."""
        total = 0
        while line := file.readline(self.max_bytes - total + 1):
            total += len(line)
            self.check(total)
            yield line

    def check(self, size: int) -> None:
        if size > self.max_bytes:
            raise DocumentUnreadable(self.path, f"larger than {self.max_bytes:,} bytes; raise max_bytes to read it")

    def warning(self, reason: str) -> Note:
        return Note(self.path, reason, "warning")

    def skipped(self, reason: str) -> Note:
        return Note(self.path, reason)
