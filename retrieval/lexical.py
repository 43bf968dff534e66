"""Ranks passages by the words they share with a question: BM25. Knows nothing of vectors.

bm25s is the engine. rank-bm25 is the reference (it takes hundreds of times as long), given Lucene's idf: its own is
zero for a word in half of the passages, and a question of that word would find nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .batches import batched
from .postings import Floats, Offsets, Postings
from .words import WordOptions, passage_words, query_words

COUNTED_AT_ONCE = 10_000
Mask = npt.NDArray[np.bool_]
Scored = list[tuple[int, float]]
"""Positions of passages with their scores, best first; equal scores by position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalOptions:
    """BM25 and its words. Measured on 16,837 Wikipedia paragraphs: see `fuse`."""

    k1: float = 1.2
    """How soon repeats of a word stop counting. 0.9 suits pools of millions of paragraphs."""

    b: float = 0.75
    """How much a long passage is held against it, 0 to 1. 0.4 suits pools of millions of paragraphs."""

    engine: Literal["bm25s", "rank-bm25"] = "bm25s"
    """The same ranking from either; bm25s is the fast one."""

    words: WordOptions = field(default_factory=WordOptions)
    """How text is cut into words."""

    def __post_init__(self) -> None:
        if not (self.k1 > 0 and 0 <= self.b <= 1):
            raise ValueError(f"BM25 needs k1 > 0 and 0 <= b <= 1, not k1={self.k1!r}, b={self.b!r}")
        if self.engine not in ("bm25s", "rank-bm25"):
            raise ValueError(f"{self.engine!r} is no lexical engine. Use 'bm25s' or 'rank-bm25'")


class LexicalIndex:
    """Immutable: adding or removing passages gives a new one, so a search under way is never disturbed."""

    def __init__(self, postings: Postings, options: LexicalOptions, *, weights: Floats | None = None) -> None:
        """`weights` are the postings' own, where they were computed before."""
        self.postings = postings
        self.options = options
        self._weights = weights

    @classmethod
    def build(cls, texts: Iterable[str], options: LexicalOptions | None = None) -> "LexicalIndex":
        options = options or LexicalOptions()
        words = (passage_words(text, options.words) for text in texts)
        return cls(Postings.gathered(batched(words, COUNTED_AT_ONCE)), options)

    def rearranged(self, added: Sequence[str], order: Offsets) -> "LexicalIndex":
        """Append the added texts, then keep the passages at the positions of `order`, in that order."""
        grown = self.postings.extended([passage_words(text, self.options.words) for text in added])
        whole = np.array_equal(order, np.arange(len(grown.lengths_N)))
        return LexicalIndex(grown if whole else grown.taken(order), self.options)

    def __len__(self) -> int:
        return len(self.postings.lengths_N)

    def scores(self, query: str) -> Floats:
        """One score a passage, (N,), never negative; zero where no word is shared. A repeated word counts as often."""
        known = self.postings.vocabulary
        words = [word for word in query_words(query, self.options.words) if word in known]
        if not words or not len(self):
            return np.zeros(len(self), dtype=np.float32)
        if self.options.engine == "rank-bm25":
            with np.errstate(invalid="ignore"):  # it divides 0 by 0 for an empty passage where b is 1
                scores = np.nan_to_num(self._reference.get_scores(words))
            return np.asarray(scores / (self.options.k1 + 1), dtype=np.float32)  # a factor of its own, the same for all
        return np.asarray(self._engine.get_scores_from_ids([known[word] for word in words]), dtype=np.float32)

    def search(self, query: str, k: int, *, allowed: Mask | None = None) -> Scored:
        """The best `k` of the allowed passages that share a word with the question."""
        return best(self.scores(query), k, allowed=allowed)

    @property
    def weights(self) -> Floats:
        """What each pair of a word and a passage adds to a score."""
        if self._weights is None:
            self._weights = self.postings.weights(self.options.k1, self.options.b)
        return self._weights

    @cached_property
    def _engine(self) -> Any:
        import bm25s  # type: ignore[import-untyped]

        options, postings = self.options, self.postings
        engine = bm25s.BM25(k1=options.k1, b=options.b, method="lucene", backend="numpy")
        # bm25s would count all passages again to add one; given the arrays that its own `index` makes, it needn't.
        engine.scores = {
            "data": self.weights,
            "indices": postings.passages_P,
            "indptr": postings.offsets_V1,
            "num_docs": len(self),
        }
        engine.vocab_dict = postings.vocabulary
        engine.nonoccurrence_array = None
        return engine

    @cached_property
    def _reference(self) -> Any:
        from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

        postings, options = self.postings, self.options
        words = list(postings.vocabulary)
        spread = np.diff(postings.offsets_V1)
        texts: list[list[str]] = [[] for _ in range(len(self))]
        for word, passage, count in zip(
            np.repeat(np.arange(len(words)), spread), postings.passages_P, postings.counts_P, strict=True
        ):
            texts[passage] += [words[word]] * int(count)
        reference = BM25Okapi(texts, k1=options.k1, b=options.b)
        idf = np.log1p((len(self) - spread + 0.5) / (spread + 0.5))
        reference.idf = dict(zip(words, idf, strict=True))
        return reference


def best(scores: Floats, k: int, *, allowed: Mask | None = None) -> Scored:
    """The `k` highest scores above zero with their positions; of equal scores the earlier position.

    >>> best(np.array([0, 2, 3, 2], dtype=np.float32), 2)
    [(2, 3.0), (1, 2.0)]
    """
    wanted = scores > 0 if allowed is None else (scores > 0) & allowed
    positions = np.flatnonzero(wanted)
    if len(positions) > k:
        least = np.partition(scores[positions], len(positions) - k)[len(positions) - k]
        positions = positions[scores[positions] >= least]
    order = np.lexsort((positions, -scores[positions]))[:k]
    return [(int(position), float(scores[position])) for position in positions[order]]
