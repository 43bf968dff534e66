"""An ingest holds a batch, not a folder: peak memory does not grow with what there is to read."""

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from remask.retrieval import HashEmbedder, LexicalOptions, SplitOptions, load, split
from remask.retrieval.batches import batched
from remask.retrieval.manifest import EmbedderRecord
from remask.retrieval.milvus.address import Address
from remask.retrieval.milvus.ingest import Ingest
from remask.retrieval.milvus.record import CollectionRecord


class Counting:
    """A connection to nowhere: counts rows and keeps none, so that all memory is the ingest's own."""

    address = Address("nowhere.db")

    def __init__(self) -> None:
        self.rows = 0

    def upsert(self, collection: str, rows: Sequence[Any]) -> None:
        self.rows += len(rows) if collection == self.address.name else 0

    def get(self, collection: str, ids: Sequence[str], fields: Sequence[str]) -> list[Any]:
        return []

    def each(self, collection: str, expression: str, fields: Sequence[str], *, batch: int = 1000) -> Iterator[Any]:
        return iter(())

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        assert ids == []


def folder(path: Path, files: int) -> Path:
    path.mkdir()
    for number in range(files):
        (path / f"{number}.txt").write_text(f"Sentence {number % 8} of this file says a little. " * 800)
    return path


def peak_bytes(docs: Path) -> tuple[int, int]:
    """Of reading, splitting, embedding and sending a whole folder; and how many rows were sent."""
    described = CollectionRecord(
        embedder=EmbedderRecord(name="hash:8", fingerprint="hash:8:1", dimension=8),
        lexical=LexicalOptions(),
        split=SplitOptions(),
    )
    connection = Counting()
    ingest = Ingest(connection, HashEmbedder(8), described, lambda documents: map(split, documents))  # type: ignore[arg-type]
    gc.collect()
    tracemalloc.start()
    try:
        for batch in batched(load(docs), 4):
            ingest.add(batch, 16)
            gc.collect()  # cycles that Python has not got round to are not what the ingest holds
        return tracemalloc.get_traced_memory()[1], connection.rows
    finally:
        tracemalloc.stop()


def test_peak_memory_does_not_grow_with_the_folder(tmp_path: Path):
    peak_bytes(folder(tmp_path / "warm", 8))  # whatever is loaded once
    small, few = peak_bytes(folder(tmp_path / "small", 12))
    large, many = peak_bytes(folder(tmp_path / "large", 96))
    assert many == 8 * few > 0
    text_bytes = 84 * 36_000
    assert large - small < text_bytes / 30, f"{small:,} bytes for 12 files, {large:,} for 96"
