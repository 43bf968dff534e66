"""Writes documents into Milvus so that a break at any moment can be made good by doing it again.

A document's head is first marked unfinished, then its passages and pieces are sent under ids that hold its version, then
what older versions left is deleted, and last the head is written with the version. Whoever finds a head without a
version, or with another, does it all again; the ids are the same, so nothing is kept twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..document import Document, Passage
from ..embed import Embedder
from ..errors import InvalidDocuments
from ..index import Changes
from ..origin import check_origins
from ..postings import Floats
from ..update import by_id, indexed_text
from .connection import Connection, Row
from .ranking import unit
from .record import CollectionRecord
from .rows import (
    document_rows,
    head_id,
    in_any,
    key_of,
    metadata_of,
    passage_row,
    text_key,
    unfinished_head,
    version_of,
)
from .schema import documents_of

CutAll = Callable[[Sequence[Document]], Iterable[Sequence[Passage]]]
"""The passages of each document, in their order."""


class Ingest:
    """One run over many documents. Remembers two numbers for each, to notice an id that stands for two texts."""

    def __init__(self, connection: Connection, embedder: Embedder, described: CollectionRecord, cut: CutAll) -> None:
        self.passages = 0
        """How many passages were sent so far."""
        self._connection = connection
        self._embedder = embedder
        self._record = described
        self._cut = cut
        self._seen: dict[int, int] = {}

    def add(self, documents: Sequence[Document], batch_passages: int) -> Changes:
        given = by_id(documents)
        self._check_ids(given.values())
        heads = self._heads(given)
        known = {key: head["version"] for key, head in heads.items()}
        changed = [document for key, document in given.items() if known.get(key) != version_of(document)]
        check_origins((new.id, metadata_of(heads[new.id]), new) for new in changed if known.get(new.id))
        embedded = sum(self._write(group) for group in self._groups(changed, batch_passages))
        updated = sum(bool(known.get(document.id)) for document in changed)
        return Changes(
            added=len(changed) - updated,
            updated=updated,
            unchanged=len(given) - len(changed),
            embedded=embedded,
        )

    def delete(self, document_ids: Sequence[str]) -> int:
        known = self._versions(dict.fromkeys(document_ids))
        if known:
            self._connection.upsert(self._documents, [unfinished_head(key) for key in known])
            keys = [key_of(key) for key in known]
            self._connection.delete(self._name, self._ids(self._name, in_any("document_key", keys)))
            pieces = self._ids(self._documents, f"{in_any('document_key', keys)} and number > 0")
            self._connection.delete(self._documents, pieces)
            self._connection.delete(self._documents, [head_id(key) for key in known])
        return len(known)

    def flush(self) -> None:
        """What was sent is safe before; this makes Milvus build its indexes."""
        for name in (self._documents, self._name):
            self._connection.flush(name)

    @property
    def _name(self) -> str:
        return self._connection.address.name

    @property
    def _documents(self) -> str:
        return documents_of(self._name)

    def _check_ids(self, documents: Iterable[Document]) -> None:
        """Raises InvalidDocuments where an id stood for another text earlier in this run."""
        for document in documents:
            version = int(version_of(document), 16)
            if self._seen.setdefault(int(key_of(document.id), 16), version) != version:
                raise InvalidDocuments(f"two documents have the id {document.id!r} and differ. Give each its own id")

    def _versions(self, ids: Iterable[str]) -> dict[str, str]:
        """Of those that are known; "" for one that is unfinished."""
        return {key: head["version"] for key, head in self._heads(ids).items()}

    def _heads(self, ids: Iterable[str]) -> dict[str, Row]:
        fields = ["document_id", "version", "about"]
        heads = self._connection.get(self._documents, [head_id(key) for key in ids], fields)
        return {head["document_id"]: head for head in heads}

    def _groups(
        self, documents: Sequence[Document], batch_passages: int
    ) -> Iterator[list[tuple[Document, Sequence[Passage]]]]:
        """Documents with their passages, about `batch_passages` of them together."""
        group: list[tuple[Document, Sequence[Passage]]] = []
        for document, passages in zip(documents, self._cut(documents), strict=True):
            group.append((document, passages))
            if sum(len(cut) for _, cut in group) >= batch_passages:
                yield group
                group = []
        if group:
            yield group

    def _write(self, group: Sequence[tuple[Document, Sequence[Passage]]]) -> int:
        """How many passages were embedded."""
        passages = [passage for _, cut in group for passage in cut]
        vectors, embedded = self._vectors(passages)
        rows: list[Row] = []
        pieces: list[Row] = []
        for document, cut in group:
            version = version_of(document)
            pieces += document_rows(document, version)
            rows += [
                passage_row(document, version, passage, vectors[text_key(passage)], self._record.lexical.words)
                for passage in cut
            ]
        self._connection.upsert(self._documents, [unfinished_head(document.id) for document, _ in group])
        for start in range(0, len(rows), 512):
            self._connection.upsert(self._name, rows[start : start + 512])
        for start in range(0, len(pieces), 128):
            part = [row for row in pieces[start : start + 128] if row["number"] > 0]
            self._connection.upsert(self._documents, part)
        self._forget_older([document for document, _ in group], {row["id"] for row in [*rows, *pieces]})
        for start in range(0, len(pieces), 128):
            self._connection.upsert(self._documents, [row for row in pieces[start : start + 128] if row["number"] == 0])
        self.passages += len(rows)
        return embedded

    def _forget_older(self, documents: Sequence[Document], current: set[str]) -> None:
        keys = in_any("document_key", [key_of(document.id) for document in documents])
        for name, expression in ((self._name, keys), (self._documents, f"{keys} and number > 0")):
            self._connection.delete(name, [row for row in self._ids(name, expression) if row not in current])

    def _ids(self, name: str, expression: str) -> list[str]:
        return [row["id"] for row in self._connection.each(name, expression, ["id"])]

    def _vectors(self, passages: Sequence[Passage]) -> tuple[dict[str, list[float]], int]:
        """By text: the vector that an equal text already has in Milvus, or a new one."""
        texts = {text_key(passage): indexed_text(passage) for passage in passages}
        vectors = self._stored(list(texts))
        fresh = [key for key in texts if key not in vectors]
        if fresh:
            made = self._embedder.embed_passages([texts[key] for key in fresh])
            self._check_vectors(made, len(fresh))
            vectors |= {key: unit(vector) for key, vector in zip(fresh, made, strict=True)}
        return vectors, len(fresh)

    def _stored(self, keys: Sequence[str]) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for start in range(0, len(keys), 512):
            expression = in_any("text_key", keys[start : start + 512])
            for row in self._connection.each(self._name, expression, ["text_key", "dense"], batch=256):
                found.setdefault(row["text_key"], row["dense"])
        return found

    def _check_vectors(self, made: Floats, count: int) -> None:
        dimension = self._record.embedder.dimension
        if made.shape != (count, dimension):
            raise InvalidDocuments(
                f"{self._embedder.name!r} gave vectors of shape {made.shape} for {count} passages, where the collection"
                f" keeps {dimension} dimensions. Use the embedder that it was made with"
            )
        bad = np.flatnonzero(~np.isfinite(made).all(axis=1))
        if len(bad):
            raise InvalidDocuments(f"vector {int(bad[0])} holds a value that is not finite. Check the embedder")
