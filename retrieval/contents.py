"""The files of an index: documents, passages, word counts and vectors, as lines of JSON and arrays. Never a pickle.

Beside each file of lines lies an array of their places, so that opening reads none of them (`mapped`). An index of an
earlier version, which has no such arrays, is read whole.

Knows nothing of where they lie or how they are switched.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .dense import DenseIndex, read_graph
from .document import Document, Passage
from .errors import IndexUnusable
from .lexical import LexicalIndex
from .manifest import REBUILD, Manifest
from .mapped import Lines, Passages, Places, Shelf, hashed, passage
from .postings import Postings

DOCUMENTS, PASSAGES, VOCABULARY = "documents.jsonl", "passages.jsonl", "words.jsonl"
OFFSETS, PAIRS, COUNTS, LENGTHS = "words.offsets.npy", "words.passages.npy", "words.counts.npy", "words.lengths.npy"
VECTORS, GRAPH, WEIGHTS = "vectors.npy", "graph.faiss", "words.weights.npy"
METADATA = "metadata.jsonl"
DOCUMENT_STARTS, PASSAGE_STARTS, METADATA_STARTS = "documents.starts.npy", "passages.starts.npy", "metadata.starts.npy"
KEYS, ORDER, OWNERS, KINDS = "documents.keys.npy", "documents.order.npy", "passages.owners.npy", "passages.kinds.npy"
MAPPED_FROM_BYTES = 1_000_000


def writers(
    documents: Mapping[str, Document], passages: Sequence[Passage], lexical: LexicalIndex, dense: DenseIndex
) -> dict[str, Callable[[Path], None]]:
    """One function a file, to be called with the path to write, in this order."""
    postings = lexical.postings
    kinds, metadata = _kinds(passages)
    arrays = {
        VECTORS: dense.vectors_ND,
        OFFSETS: postings.offsets_V1,
        PAIRS: postings.passages_P,
        COUNTS: postings.counts_P,
        LENGTHS: postings.lengths_N,
        WEIGHTS: lexical.weights,
        OWNERS: _owners(documents, passages),
        KINDS: kinds,
        **_keys(documents),
    }
    files: dict[str, Callable[[Path], None]] = {
        **_lines_and_starts(DOCUMENTS, DOCUMENT_STARTS, (one.model_dump_json() for one in documents.values())),
        **_lines_and_starts(PASSAGES, PASSAGE_STARTS, (_line(passage, documents) for passage in passages)),
        **_lines_and_starts(METADATA, METADATA_STARTS, metadata),
        VOCABULARY: partial(_write_lines, lines=(json.dumps(word) for word in postings.vocabulary)),
        **{name: partial(_write_array, array=array) for name, array in arrays.items()},
    }
    if dense.approximate:
        files[GRAPH] = dense.write_graph
    return files


def load(
    folder: Path, manifest: Manifest
) -> tuple[Mapping[str, Document], Sequence[Passage], LexicalIndex, DenseIndex]:
    """All of it. Large arrays are mapped, not read, and lines wait until they are asked for."""
    try:
        documents, passages = _mapped(folder) if PASSAGE_STARTS in manifest.files else _read(folder)
        vocabulary = {json.loads(line): number for number, line in enumerate(_lines(folder / VOCABULARY))}
        arrays = [_array(folder / name) for name in (OFFSETS, PAIRS, COUNTS, LENGTHS)]
        weights = _array(folder / WEIGHTS) if WEIGHTS in manifest.files else None
        vectors = _array(folder / VECTORS)
        graph = read_graph(folder / GRAPH) if GRAPH in manifest.files else None
        _check_postings(len(vocabulary), *arrays)
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise IndexUnusable(f"{folder}: holds what is not an index: {error}. {REBUILD}") from error
    sizes = {len(passages), len(vectors), len(arrays[3]), manifest.passages}
    if len(sizes) > 1 or len(documents) != manifest.documents:
        raise IndexUnusable(f"{folder}: its files disagree on how much there is. {REBUILD}")
    lexical = LexicalIndex(Postings(vocabulary, *arrays), manifest.lexical, weights=weights)
    return documents, passages, lexical, DenseIndex(vectors, graph=graph)


def _mapped(folder: Path) -> tuple[Shelf, Passages]:
    order = _array(folder / ORDER)
    shelf = Shelf(Lines(folder / DOCUMENTS, _array(folder / DOCUMENT_STARTS)), _array(folder / KEYS), order)
    metadata = Lines(folder / METADATA, _array(folder / METADATA_STARTS))
    lines = Lines(folder / PASSAGES, _array(folder / PASSAGE_STARTS))
    owners, kinds = _array(folder / OWNERS), _array(folder / KINDS)
    if not len(lines) == len(owners) == len(kinds):
        raise ValueError("the passages' files disagree on how many there are")
    _check_inside("documents' keys", order, len(shelf))
    _check_inside("passages' owners", owners, len(shelf))
    _check_inside("passages' metadata", kinds, len(metadata))
    return shelf, Passages(lines, owners, shelf, metadata, kinds)


def _read(folder: Path) -> tuple[dict[str, Document], tuple[Passage, ...]]:
    listed = [Document.model_validate_json(line) for line in _lines(folder / DOCUMENTS)]
    documents = {document.id: document for document in listed}
    records = (json.loads(line) for line in _lines(folder / PASSAGES))
    return documents, tuple(passage(record, documents[record["document"]]) for record in records)


def _owners(documents: Mapping[str, Document], passages: Sequence[Passage]) -> Places:
    number = {key: place for place, key in enumerate(documents)}
    return np.fromiter((number[passage.document_id] for passage in passages), dtype=np.int64, count=len(passages))


def _kinds(passages: Sequence[Passage]) -> tuple[Places, list[str]]:
    """Which metadata each passage has, and each metadata once."""
    seen: dict[str, int] = {}
    texts = (json.dumps(dict(passage.metadata)) for passage in passages)
    kinds = np.fromiter((seen.setdefault(text, len(seen)) for text in texts), dtype=np.int64, count=len(passages))
    return kinds, list(seen)


def _keys(documents: Mapping[str, Document]) -> dict[str, Any]:
    keys = np.array([hashed(key) for key in documents], dtype=np.uint64)
    order = np.argsort(keys, kind="stable").astype(np.int64)
    return {KEYS: keys[order], ORDER: order}


def _lines_and_starts(name: str, starts: str, lines: Iterable[str]) -> dict[str, Callable[[Path], None]]:
    """The second is written after the first, from what that one wrote."""
    places: list[int] = [0]

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for line in lines:
                places.append(places[-1] + file.write(f"{line}\n".encode()))

    def write_starts(path: Path) -> None:
        _write_array(path, array=np.array(places, dtype=np.int64))

    return {name: write, starts: write_starts}


def _line(passage: Passage, documents: Mapping[str, Document]) -> str:
    """What can't be read off its document."""
    document = documents[passage.document_id]
    record: dict[str, Any] = {"document": passage.document_id, "start": passage.start, "end": passage.end}
    if passage.sentences:
        record["sentences"] = [[span.start, span.end] for span in passage.sentences]
    if passage.title != document.title:
        record["title"] = passage.title
    if dict(passage.metadata) != document.metadata:
        record["metadata"] = dict(passage.metadata)
    return json.dumps(record)


def _lines(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        yield from file


def _write_lines(path: Path, *, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _check_postings(words: int, offsets: Any, pairs: Any, counts: Any, lengths: Any) -> None:
    """Raises ValueError where a search would look beyond the arrays: a hash only tells that nobody changed them since."""
    whole = all(array.ndim == 1 and array.dtype.kind == "i" for array in (offsets, pairs, counts, lengths))
    if not whole or len(offsets) != words + 1 or len(pairs) != len(counts):
        raise ValueError("word counts are not what a search expects")
    ordered = offsets[0] == 0 and offsets[-1] == len(pairs) and bool((np.diff(offsets) >= 0).all())
    if not ordered:
        raise ValueError("word counts are not what a search expects")
    _check_inside("word counts", pairs, len(lengths))


def _check_inside(name: str, numbers: Any, count: int) -> None:
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < count:
        raise ValueError(f"{name} point beyond the {count} that there are")


def _array(path: Path) -> Any:
    # Mapped at first in any case: what a header claims beyond the file is refused, not allocated.
    array = np.load(path, allow_pickle=False, mmap_mode="r")
    return array if path.stat().st_size >= MAPPED_FROM_BYTES else np.array(array)


def _write_array(path: Path, *, array: Any) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
