"""Ranks passages by the angle between their vectors and a question's: FAISS, inner product of unit vectors.

Exact up to `exact_up_to` passages, an HNSW graph above; a filtered search is always exact. Knows nothing of text.
The one module that imports faiss, for the others too.
"""

# N passages, D dimensions

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from .errors import InvalidDocuments
from .lexical import Mask, Scored
from .postings import Floats, Offsets

EXACT_UP_TO = 50_000
"""Measured on one thread of a busy 2-core machine: exact search of 16,837 MiniLM vectors takes 1 to 2 ms, of 50,000 4 to 8 ms,
half of what embedding the question takes. The graph takes 1 to 2 ms, is built in minutes, and finds 99.95% of the exact ten
best among 16,837 (99.7% of the best hundred), 99.9% (99.3%) among 50,000, of which two thirds were mixed from real ones;
200 questions. `python -m remask.retrieval.bench graph` measures it over an index of yours."""


class DenseIndex:
    """Immutable: adding or removing vectors gives a new one, so a search under way is never disturbed."""

    def __init__(self, vectors_ND: Floats, *, exact_up_to: int = EXACT_UP_TO, graph: Any = None) -> None:
        assert vectors_ND.ndim == 2
        self.vectors_ND = vectors_ND
        self.exact_up_to = exact_up_to
        self._ready_graph = graph
        self._building = Lock()

    @classmethod
    def build(cls, vectors_ND: Floats, *, exact_up_to: int = EXACT_UP_TO) -> "DenseIndex":
        """From vectors of any length. A zero vector stays zero and scores 0."""
        return cls(_unit(vectors_ND), exact_up_to=exact_up_to)

    def rearranged(self, added_MD: Floats, order: Offsets) -> "DenseIndex":
        """Append the added vectors, then keep those at the positions of `order`, in that order."""
        old, new = self.vectors_ND, _unit(added_MD)
        if not len(old) or not len(new):
            grown = new if len(new) else old
        elif old.shape[1] != new.shape[1]:
            raise InvalidDocuments(f"vectors of {new.shape[1]} dimensions can't join vectors of {old.shape[1]}")
        else:
            grown = np.concatenate([old, new])
        if not np.array_equal(order, np.arange(len(grown))):
            return DenseIndex(grown[order], exact_up_to=self.exact_up_to)
        graph = _grown_graph(self._ready_graph, new) if self._ready_graph is not None else None
        return DenseIndex(grown, exact_up_to=self.exact_up_to, graph=graph)

    def __len__(self) -> int:
        return len(self.vectors_ND)

    @property
    def approximate(self) -> bool:
        return len(self) > self.exact_up_to

    def scores(self, query_D: Floats, positions: Sequence[int]) -> Floats:
        """Cosines of the passages at these positions, computed exactly."""
        if not len(positions):
            return np.zeros(0, dtype=np.float32)
        return np.asarray(np.asarray(self.vectors_ND)[list(positions)] @ _unit(query_D[None])[0], dtype=np.float32)

    def search(self, query_D: Floats, k: int, *, allowed: Mask | None = None) -> Scored:
        """The best `k` of the allowed passages with their cosines; of equal cosines the earlier position."""
        count = len(self) if allowed is None else int(np.count_nonzero(allowed))
        k = min(k, count)
        query_1D = _unit(query_D[None])
        if k == 0:
            return []
        if self.approximate and allowed is None:
            graph = self.graph
            settings = faiss_library().SearchParametersHNSW(efSearch=max(EF_SEARCH, 2 * k))
            return _sorted(*graph.search(query_1D, k, params=settings))[:k]
        return self._exact(query_1D, k, count, allowed)

    def _exact(self, query_1D: Floats, k: int, count: int, allowed: Mask | None) -> Scored:
        with nullcontext() if self.approximate else _one_thread():
            return self._ranked(query_1D, k, count, allowed)

    def _ranked(self, query_1D: Floats, k: int, count: int, allowed: Mask | None) -> Scored:
        selector = (
            None if allowed is None else faiss_library().IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        )
        settings = faiss_library().SearchParameters(sel=selector) if selector is not None else None
        found = _sorted(*self._flat.search(query_1D, min(k + 1, count), params=settings))
        if len(found) > k and found[k][1] == found[k - 1][1]:
            # Which of the equal ones FAISS returned is chance: ask for all that are as good.
            below = float(np.nextafter(np.float32(found[k][1]), np.float32(-np.inf)))
            _, scores, positions = self._flat.range_search(query_1D, below, params=settings)
            found = _sorted(scores[None], positions[None])
        return found[:k]

    @cached_property
    def _flat(self) -> Any:
        if self.approximate:
            return faiss_library().downcast_index(self.graph.storage)
        flat = faiss_library().IndexFlatIP(self.vectors_ND.shape[1])
        flat.add(np.ascontiguousarray(self.vectors_ND))
        return flat

    @property
    def graph(self) -> Any:
        """The HNSW graph, built when it is first needed: a quarter of an hour for a million passages (RESULTS.md)."""
        with self._building:
            if self._ready_graph is None:
                self._ready_graph = _new_graph(np.ascontiguousarray(self.vectors_ND))
        return self._ready_graph

    def write_graph(self, path: Path) -> None:
        faiss_library().write_index(self.graph, str(path))


def read_graph(path: Path) -> Any:
    return faiss_library().read_index(str(path))


LINKS = 32
EF_CONSTRUCTION = 200
EF_SEARCH = 128


def _new_graph(vectors_ND: Floats) -> Any:
    graph = faiss_library().IndexHNSWFlat(vectors_ND.shape[1], LINKS, faiss_library().METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = EF_CONSTRUCTION
    graph.add(vectors_ND)
    return graph


def _grown_graph(graph: Any, added_MD: Floats) -> Any:
    grown = faiss_library().clone_index(graph)
    if len(added_MD):
        grown.add(np.ascontiguousarray(added_MD))
    return grown


def _sorted(scores: Floats, positions: Offsets) -> Scored:
    """FAISS fills up with position -1 where it found too few."""
    pairs = zip(positions[0].tolist(), scores[0].tolist(), strict=True)
    return sorted(((position, score) for position, score in pairs if position >= 0), key=lambda p: (-p[1], p[0]))


def _unit(vectors: Floats) -> Floats:
    """Rows of length 1. FAISS would keep a vector with a NaN and never return it, so such a one is refused."""
    vectors = np.asarray(vectors, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise InvalidDocuments(f"vector {int(bad[0])} holds a value that is not finite. Check the embedder")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


@contextmanager
def _one_thread() -> Iterator[None]:
    """For one question over a small index a second thread gains a millisecond, and waits 20 where others are at work."""
    threads = faiss_library().omp_get_max_threads()
    faiss_library().omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss_library().omp_set_num_threads(threads)


@cache
def faiss_library() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # SWIG's, at import, of no concern to a user
        import faiss

    return faiss
