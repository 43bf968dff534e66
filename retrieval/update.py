"""An index after documents were added, replaced or removed. Pure functions: the old one stays as it is."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .document import Document, Passage
from .errors import InvalidDocuments
from .hybrid import HybridRetriever
from .postings import Floats
from .progress import Progress


@dataclass(frozen=True, slots=True)
class State:
    """One moment of an index. A search uses the one it started with, whatever is added meanwhile."""

    documents: Mapping[str, Document]
    retriever: HybridRetriever


def indexed_text(passage: Passage) -> str:
    """What both rankers see of a passage: its title and its text."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def by_id(documents: Iterable[Document]) -> dict[str, Document]:
    """Repeats collapsed. InvalidDocuments where an id stands for two contents, or a document can't be stored."""
    given: dict[str, Document] = {}
    for document in documents:
        _check_storable(document)
        if not same(given.setdefault(document.id, document), document):
            raise InvalidDocuments(f"two documents have the id {document.id!r} and differ. Give each its own id")
    return given


def same(one: Document | None, other: Document) -> bool:
    """Compared as they are stored: for Python itself, True equals 1."""
    return one is other or (one is not None and one.model_dump_json() == other.model_dump_json())


def merged(
    old: State, changed: Mapping[str, Document], cut: Mapping[str, Sequence[Passage]], progress: Progress | None
) -> tuple[State, int]:
    """The new state, and how many passages had to be embedded. A replaced document keeps its place."""
    documents = {**old.documents, **changed}
    added = [passage for key in changed for passage in cut[key]]
    vectors, embedded = _vectors(old.retriever, [indexed_text(passage) for passage in added], progress)
    places: dict[str, list[int]] = {}
    for position, passage in enumerate([*old.retriever.passages, *added]):
        if position >= len(old.retriever) or passage.document_id not in changed:
            places.setdefault(passage.document_id, []).append(position)
    order = [position for key in documents for position in places.get(key, ())]
    return State(documents, _rearranged(old.retriever, added, vectors, order)), embedded


def without(old: State, gone: Collection[str]) -> State:
    kept = {key: document for key, document in old.documents.items() if key not in gone}
    order = [i for i, passage in enumerate(old.retriever.passages) if passage.document_id not in gone]
    return State(kept, _rearranged(old.retriever, [], _no_vectors(old.retriever), order))


def _check_storable(document: Document) -> None:
    try:
        document.model_dump_json().encode()
    except ValueError as error:  # half a surrogate pair: what a decoder told to carry on leaves behind
        raise InvalidDocuments(f"document {document.id!r} can't be written as UTF-8: {error}") from error
    numbers = [value for value in document.metadata.values() if isinstance(value, float)]
    if not np.isfinite(numbers).all():
        raise InvalidDocuments(f"document {document.id!r} has metadata that is not finite: {document.metadata!r}")


def _vectors(retriever: HybridRetriever, texts: Sequence[str], progress: Progress | None) -> tuple[Floats, int]:
    """A vector a text: the one that an equal text already has, or a new one."""
    known = {indexed_text(passage): i for i, passage in enumerate(retriever.passages)}
    fresh = list(dict.fromkeys(text for text in texts if text not in known))
    embedded = retriever.embedder.embed_passages(fresh, progress=progress) if fresh else _no_vectors(retriever)
    if len(embedded) != len(fresh):
        raise InvalidDocuments(f"{retriever.embedder.name!r} gave {len(embedded)} vectors for {len(fresh)} passages")
    row = {text: i for i, text in enumerate(fresh)}
    rows = [retriever.dense.vectors_ND[known[text]] if text in known else embedded[row[text]] for text in texts]
    return (np.stack(rows) if rows else _no_vectors(retriever)), len(fresh)


def _no_vectors(retriever: HybridRetriever) -> Floats:
    return np.zeros((0, retriever.dense.vectors_ND.shape[1]), dtype=np.float32)


def _rearranged(
    old: HybridRetriever, added: Sequence[Passage], vectors: Floats, order: Sequence[int]
) -> HybridRetriever:
    """Append the added passages, then keep those at the positions of `order`, in that order."""
    grown = [*old.passages, *added]
    positions = np.asarray(order, dtype=np.int64)
    return HybridRetriever(
        tuple(grown[position] for position in order),
        old.lexical.rearranged([indexed_text(passage) for passage in added], positions),
        old.dense.rearranged(vectors, positions),
        old.embedder,
        fusion=old.fusion,
    )
