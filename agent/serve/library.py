"""The documents a server answers from: read by many, changed by one at a time, on the disk before a change is confirmed.

Knows an index and its folder; no requests.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from ...retrieval.document import Document
from ...retrieval.index import Changes, Index
from .errors import AlreadyThere, Forbidden, NotThere, TooBusy

Done = TypeVar("Done")

MOST_CHANGES = 8
"""Changes that may wait for each other."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Characters `start` to `end` of a document, and how many it has."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.document.text[self.start : self.end]


class Library:
    """`saved` says whether the index lives in a folder; changes to one in memory are gone with the server."""

    def __init__(self, index: Index, *, saved: bool = True, read_only: bool = False) -> None:
        self.index = index
        self._saved, self._read_only = saved, read_only
        self._changes = 0
        # Its own thread: a large document that is embedded must not hold up the steps of answers.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="remask-writer")

    def documents(self, offset: int, limit: int) -> list[Document]:
        """`limit` of them from the `offset`-th on, in the order in which they came."""
        known = self.index.documents
        return [known[document_id] for document_id in islice(known, offset, offset + limit)]

    def excerpt(self, document_id: str, *, start: int = 0, end: int | None = None) -> Excerpt:
        """Raises NotThere. What lies beyond the text is cut off."""
        document = self._known(document_id)
        length = len(document.text)
        begin = max(0, min(start, length))
        return Excerpt(document, begin, max(begin, min(length if end is None else end, length)))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Held from before a change's body is read until it is done. Raises Forbidden and, when many wait, TooBusy."""
        if self._read_only:
            raise Forbidden("this server's documents can't be changed. Start it without --read-only")
        if self._changes >= MOST_CHANGES:
            raise TooBusy(f"{self._changes} changes wait already. Try again in 5 s", retry_after_seconds=5)
        self._changes += 1
        try:
            yield
        finally:
            self._changes -= 1

    async def add(self, documents: Sequence[Document], *, replace: bool) -> Changes:
        """Raises AlreadyThere where a document would be replaced that wasn't to be, and what the index raises; then
        nothing has changed, in memory or on the disk."""
        return await self._written(lambda: self._add(documents, replace))

    async def delete(self, document_id: str) -> None:
        """Raises NotThere, and what the index raises."""
        await self._written(lambda: self._delete(document_id))

    def close(self) -> None:
        """Lets a change in progress end."""
        self._writer.shutdown(wait=True, cancel_futures=True)

    async def _written(self, change: Callable[[], Done]) -> Done:
        # Shielded: a client that leaves must not leave a change half made.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._writer, change))

    def _add(self, documents: Sequence[Document], replace: bool) -> Changes:
        known = self.index.documents
        before = {d.id: known[d.id] for d in documents if d.id in known}
        changed = [d for d in documents if d.id in before and before[d.id] != d]
        if changed and not replace:
            raise AlreadyThere(f"there is another document {changed[0].id!r}. Send replace=true to replace it")
        changes = self.index.add(documents)
        if changes.added or changes.updated:
            self._save(lambda: self._put_back(documents, before))
        return changes

    def _delete(self, document_id: str) -> None:
        document = self._known(document_id)
        self.index.delete([document_id])
        self._save(lambda: self.index.add([document]))

    def _put_back(self, documents: Sequence[Document], before: dict[str, Document]) -> None:
        self.index.delete(d.id for d in documents if d.id not in before)
        self.index.add(before.values())

    def _save(self, put_back: Callable[[], object]) -> None:
        """What can't be saved is taken back: a change is either on the disk or nowhere."""
        if not self._saved:
            return
        try:
            self.index.save()
        except BaseException:
            put_back()
            raise

    def _known(self, document_id: str) -> Document:
        try:
            return self.index.document(document_id)
        except KeyError:
            raise NotThere(f"there is no document {document_id!r}") from None
