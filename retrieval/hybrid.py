"""Asks both rankers and fuses what they say. Knows nothing of files, and never changes: an update makes another one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .dense import DenseIndex
from .document import Hit, Passage, Ranked, Scalar
from .embed import Embedder
from .errors import IndexUnusable
from .fuse import reciprocal_ranks, weighted_scores
from .lexical import LexicalIndex, Mask, Scored, best
from .mapped import Passages
from .postings import Floats

Mode = Literal["hybrid", "lexical", "dense"]
Where = Mapping[str, Scalar | Sequence[Scalar]]
"""A value that the metadata must equal, or several of which it must equal one."""

FLOORS = {"lexical": 0.0, "dense": -1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionOptions:
    """How two rankings become one. Defaults measured: see `fuse`."""

    method: Literal["weighted", "rrf"] = "weighted"
    """"weighted" adds normalised scores (TM2C2), "rrf" reciprocal ranks."""

    dense_weight: float = 0.7
    """The dense ranker's share of a weighted sum, 0 to 1; the lexical one has the rest."""

    rrf_k: float = 60
    """Larger: the first ranks stand out less. Only for "rrf", where both rankers weigh the same."""

    depth: int = 100
    """How many passages each ranker proposes; at least as many as are asked for. 50 found as much as 200 did."""

    def __post_init__(self) -> None:
        if self.method not in ("weighted", "rrf"):
            raise ValueError(f"{self.method!r} is no way to fuse. Use 'weighted' or 'rrf'")
        if not 0 <= self.dense_weight <= 1 or self.rrf_k < 0 or self.depth < 1:
            raise ValueError(f"dense_weight must lie in 0..1, rrf_k be at least 0 and depth at least 1, not {self!r}")


class HybridRetriever:
    """Fused search over passages; position `i` is the same passage in both rankers.

    A hit's `rankers` holds the verdicts of those that had it among their `depth` best. In a weighted sum both count
    with their exact scores, listed or not: a passage that one ranker overlooked is judged by it all the same.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        lexical: LexicalIndex,
        dense: DenseIndex,
        embedder: Embedder,
        *,
        fusion: FusionOptions | None = None,
    ) -> None:
        assert len(passages) == len(lexical) == len(dense)
        self.passages = passages
        self.lexical = lexical
        self.dense = dense
        self.embedder = embedder
        self.fusion = fusion or FusionOptions()

    def __len__(self) -> int:
        return len(self.passages)

    def search(self, query: str, k: int = 10, *, where: Where | None = None, mode: Mode = "hybrid") -> list[Hit]:
        """Best first, at most `k`. A blank question has no hits.

        The score is the fused one in [0, 1], or with `mode` BM25's or the cosine. `where` narrows before the best are
        picked, so it never costs hits. A lexical search leaves out passages that share no word with the question.
        """
        if k < 1:
            raise ValueError(f"k is {k!r}; ask for at least one passage")
        if mode not in ("hybrid", "lexical", "dense"):
            raise ValueError(f"{mode!r} is no way to search. Use 'hybrid', 'lexical' or 'dense'")
        if not query.strip() or not self.passages:
            return []
        query = query.encode("utf-8", "replace").decode()  # half a surrogate pair would stop a tokenizer
        allowed = self._allowed(where) if where else None
        if mode == "lexical":
            return self._hits({mode: self.lexical.search(query, k, allowed=allowed)})
        vector = self._vector(query)
        if mode == "dense":
            return self._hits({mode: self.dense.search(vector, k, allowed=allowed)})
        return self._fused(query, vector, k, allowed)

    def _fused(self, query: str, vector: Floats, k: int, allowed: Mask | None) -> list[Hit]:
        depth = max(k, self.fusion.depth)
        word_scores = self.lexical.scores(query)
        lexical = best(word_scores, depth, allowed=allowed)
        dense = self.dense.search(vector, depth, allowed=allowed)
        lists: dict[str, Scored] = {"lexical": lexical, "dense": dense}
        if self.fusion.method == "rrf":
            fused = reciprocal_ranks(lists, k=self.fusion.rrf_k)
        else:
            only_dense = _missing(dense, lexical)
            only_lexical = _missing(lexical, dense)
            further = self.dense.scores(vector, only_lexical).tolist()
            complete: dict[str, Scored] = {
                "lexical": lexical + [(position, float(word_scores[position])) for position in only_dense],
                "dense": dense + list(zip(only_lexical, further, strict=True)),
            }
            share = self.fusion.dense_weight
            fused = weighted_scores(complete, floors=FLOORS, weights={"lexical": 1 - share, "dense": share})
        return self._hits(lists, fused[:k])

    def _hits(self, lists: Mapping[str, Scored], fused: Scored | None = None) -> list[Hit]:
        if fused is None:
            (fused,) = lists.values()
        wanted = {position for position, _ in fused}
        verdicts: dict[int, dict[str, Ranked]] = {position: {} for position in wanted}
        for name, scored in lists.items():
            for rank, (position, score) in enumerate(scored, start=1):
                if position in wanted:
                    verdicts[position][name] = Ranked(rank, score)
        return [Hit(self.passages[position], score, verdicts[position]) for position, score in fused]

    def _vector(self, query: str) -> Floats:
        vector = self.embedder.embed_query(query)
        if vector.shape != self.dense.vectors_ND.shape[1:]:
            raise IndexUnusable(
                f"passages have {self.dense.vectors_ND.shape[1]} dimensions, the question's vector from"
                f" {self.embedder.name!r} has shape {vector.shape}. Use the embedder that the index was made with"
            )
        return vector

    def _allowed(self, where: Where) -> Mask:
        wanted = {key: _any_of(value) for key, value in where.items()}
        if isinstance(self.passages, Passages):  # then each metadata is looked at once, and no passage is read
            return _matching(self.passages.metadata(), wanted)[self.passages.kinds]
        return _matching((passage.metadata for passage in self.passages), wanted)


def _matching(metadata: Iterable[Mapping[str, Scalar]], wanted: Mapping[str, set[tuple[bool, Scalar | None]]]) -> Mask:
    found = (all(_tagged(one.get(key)) in values for key, values in wanted.items()) for one in metadata)
    return np.fromiter(found, dtype=np.bool_)


def _missing(there: Scored, here: Scored) -> list[int]:
    known = {position for position, _ in here}
    return [position for position, _ in there if position not in known]


def _any_of(value: Scalar | Sequence[Scalar]) -> set[tuple[bool, Scalar | None]]:
    single = isinstance(value, str | int | float | bool)
    return {_tagged(value)} if single else {_tagged(one) for one in value}  # type: ignore[arg-type, union-attr]


def _tagged(value: Scalar | None) -> tuple[bool, Scalar | None]:
    """Python holds True for 1; a filter must not."""
    return isinstance(value, bool), value
