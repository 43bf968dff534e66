"""The files of an index: documents, passages, word counts and vectors, as lines of JSON and arrays. Never a pickle.

Knows nothing of where they lie or how they are switched.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .dense import DenseIndex, read_graph
from .document import Document, Passage, Span
from .errors import IndexUnusable
from .lexical import LexicalIndex
from .manifest import REBUILD, Manifest
from .postings import Postings

DOCUMENTS, PASSAGES, VOCABULARY = "documents.jsonl", "passages.jsonl", "words.jsonl"
OFFSETS, PAIRS, COUNTS, LENGTHS = "words.offsets.npy", "words.passages.npy", "words.counts.npy", "words.lengths.npy"
VECTORS, GRAPH = "vectors.npy", "graph.faiss"
MAPPED_FROM_BYTES = 1_000_000


def writers(
    documents: Mapping[str, Document], passages: Sequence[Passage], lexical: LexicalIndex, dense: DenseIndex
) -> dict[str, Callable[[Path], None]]:
    """One function a file, to be called with the path to write."""
    postings = lexical.postings
    arrays = {
        VECTORS: dense.vectors_ND,
        OFFSETS: postings.offsets_V1,
        PAIRS: postings.passages_P,
        COUNTS: postings.counts_P,
        LENGTHS: postings.lengths_N,
    }
    files: dict[str, Callable[[Path], None]] = {
        DOCUMENTS: partial(_write_lines, lines=(document.model_dump_json() for document in documents.values())),
        PASSAGES: partial(_write_lines, lines=(_line(passage, documents) for passage in passages)),
        VOCABULARY: partial(_write_lines, lines=(json.dumps(word) for word in postings.vocabulary)),
        **{name: partial(_write_array, array=array) for name, array in arrays.items()},
    }
    if dense.approximate:
        files[GRAPH] = dense.write_graph
    return files


def load(folder: Path, manifest: Manifest) -> tuple[dict[str, Document], tuple[Passage, ...], LexicalIndex, DenseIndex]:
    """All of it. Large arrays are mapped, not read."""
    try:
        listed = [Document.model_validate_json(line) for line in _lines(folder / DOCUMENTS)]
        documents = {document.id: document for document in listed}
        passages = tuple(_passage(json.loads(line), documents) for line in _lines(folder / PASSAGES))
        vocabulary = {json.loads(line): number for number, line in enumerate(_lines(folder / VOCABULARY))}
        arrays = [_array(folder / name) for name in (OFFSETS, PAIRS, COUNTS, LENGTHS)]
        vectors = _array(folder / VECTORS)
        graph = read_graph(folder / GRAPH) if GRAPH in manifest.files else None
        _check_postings(len(vocabulary), *arrays)
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise IndexUnusable(f"{folder}: holds what is not an index: {error}. {REBUILD}") from error
    sizes = {len(passages), len(vectors), len(arrays[3]), manifest.passages}
    if len(sizes) > 1 or len(documents) != manifest.documents:
        raise IndexUnusable(f"{folder}: its files disagree on how much there is. {REBUILD}")
    lexical = LexicalIndex(Postings(vocabulary, *arrays), manifest.lexical)
    return documents, passages, lexical, DenseIndex(vectors, graph=graph)


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


def _passage(record: dict[str, Any], documents: Mapping[str, Document]) -> Passage:
    document = documents[record["document"]]
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
    if not ordered or (len(pairs) and not 0 <= int(pairs.min()) <= int(pairs.max()) < len(lengths)):
        raise ValueError("word counts point beyond the passages")


def _array(path: Path) -> Any:
    # Mapped at first in any case: what a header claims beyond the file is refused, not allocated.
    array = np.load(path, allow_pickle=False, mmap_mode="r")
    return array if path.stat().st_size >= MAPPED_FROM_BYTES else np.array(array)


def _write_array(path: Path, *, array: Any) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
