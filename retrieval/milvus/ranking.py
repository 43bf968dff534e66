"""Asks Milvus by words and by vector, and fuses what it says. Knows nothing of how passages get there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..document import Hit, Passage, Ranked
from ..fuse import reciprocal_ranks, weighted_scores
from ..hybrid import FLOORS, FusionOptions, Mode
from ..lexical import LexicalOptions
from ..postings import Floats
from ..words import query_words
from .connection import Connection, Row, pymilvus
from .options import MilvusOptions
from .rows import in_any, passage_of, spelled
from .schema import PASSAGE_FIELDS, TEXT_BYTES

Scored = list[tuple[str, float]]
"""Ids of passages with their scores, best first; equal scores by document, then by place in it."""

MOST = 16_384
"""The most hits that one search of Milvus may ask for."""


@dataclass(slots=True)
class Ranking:
    """One question being asked. `passages` fills up with whatever was found."""

    connection: Connection
    lexical: LexicalOptions
    options: MilvusOptions
    expression: str
    passages: dict[str, Passage] = field(default_factory=dict)

    def hits(self, query: str, vector: Callable[[], Floats], k: int, mode: Mode) -> list[Hit]:
        words = self._words(query)
        depth = min(max(k, self.options.fusion.depth), MOST)  # of equals at the end Milvus picks any: ask for more
        lists: dict[str, Scored] = {}
        if mode != "dense":
            lists["lexical"] = self._by_words(words, depth)
        if mode == "lexical":
            return self._explained(lists["lexical"][:k], lists)
        point = unit(vector())
        lists["dense"] = self._by_vector(point, depth)
        if mode == "dense":
            return self._explained(lists["dense"][:k], lists)
        return self._explained(self._fused(words, point, lists, depth)[:k], lists)

    def _fused(self, words: str, point: list[float], lists: Mapping[str, Scored], depth: int) -> Scored:
        if self.options.fuse == "milvus" and words:
            return self._by_milvus(words, point, depth)
        if self.options.fusion.method == "rrf":
            return reciprocal_ranks(lists, k=self.options.fusion.rrf_k)
        return self._weighted(words, point, lists)

    def _weighted(self, words: str, point: list[float], lists: Mapping[str, Scored]) -> Scored:
        """As the local index does it: each ranker judges what only the other one listed."""
        lexical, dense = lists["lexical"], lists["dense"]
        only_dense, only_lexical = _missing(dense, lexical), _missing(lexical, dense)
        complete = {
            "lexical": lexical + self._by_words(words, len(only_dense), among=only_dense),
            "dense": dense + self._by_vector(point, len(only_lexical), among=only_lexical),
        }
        # A word shared with nothing: BM25 has no score to give, which is its lowest one.
        complete["lexical"] += [(key, 0.0) for key in _missing(dense, complete["lexical"])]
        share = self.options.fusion.dense_weight
        return weighted_scores(complete, floors=FLOORS, weights={"lexical": 1 - share, "dense": share})

    def _by_milvus(self, words: str, point: list[float], depth: int) -> Scored:
        ranker = _milvus_ranker(self.options.fusion)
        asked = {"lexical": words, "dense": point}
        rows = self.connection.hybrid_search(self._name, asked, ranker, depth, self.expression)
        unknown = [row["id"] for row in rows if row["id"] not in self.passages]
        for row in self.connection.get(self._name, unknown, ["id", *PASSAGE_FIELDS]):
            self.passages[row["id"]] = passage_of(row)
        return self._in_order([(row["id"], float(row["distance"])) for row in rows if row["id"] in self.passages])

    def _by_words(self, words: str, k: int, *, among: Sequence[str] | None = None) -> Scored:
        if not words or k < 1:
            return []
        return [(key, score) for key, score in self._found("lexical", words, k, among) if score > 0]

    def _by_vector(self, point: list[float], k: int, *, among: Sequence[str] | None = None) -> Scored:
        return self._found("dense", point, k, among) if k > 0 else []

    def _found(self, field: str, data: Any, k: int, among: Sequence[str] | None) -> Scored:
        parts = [part for part in (self.expression, in_any("id", among) if among is not None else "") if part]
        rows = self.connection.search(self._name, field, data, min(k, MOST), " and ".join(parts), PASSAGE_FIELDS)
        self.passages |= {row["id"]: passage_of(_entity(row)) for row in rows if row["id"] not in self.passages}
        # Milvus Lite puts a minus before BM25's score, a server does not; it is never negative itself.
        sign = abs if field == "lexical" else float
        return self._in_order([(row["id"], sign(float(row["distance"]))) for row in rows])

    def _in_order(self, scored: Scored) -> Scored:
        def place(pair: tuple[str, float]) -> tuple[float, str, int]:
            passage = self.passages[pair[0]]
            return -pair[1], passage.document_id, passage.start

        return sorted(scored, key=place)

    def _explained(self, fused: Scored, lists: Mapping[str, Scored]) -> list[Hit]:
        verdicts: dict[str, dict[str, Ranked]] = {key: {} for key, _ in fused}
        for name, scored in lists.items():
            for rank, (key, score) in enumerate(scored, 1):
                if key in verdicts:
                    verdicts[key][name] = Ranked(rank, score)
        return [Hit(self.passages[key], score, verdicts[key]) for key, score in fused]

    def _words(self, query: str) -> str:
        """At most what a field holds: the words after that are left out."""
        text = spelled(query_words(query, self.lexical.words))
        return text if len(text) <= TEXT_BYTES else text[:TEXT_BYTES].rpartition(" ")[0]

    @property
    def _name(self) -> str:
        return self.connection.address.name


def unit(vector: Floats) -> list[float]:
    """Of length 1; a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length > 0 else vector, dtype=np.float32).tolist()  # type: ignore[no-any-return]


def _milvus_ranker(fusion: FusionOptions) -> Any:
    if fusion.method == "rrf":
        return pymilvus().RRFRanker(fusion.rrf_k)
    return pymilvus().WeightedRanker(1 - fusion.dense_weight, fusion.dense_weight)


def _missing(there: Scored, here: Scored) -> list[str]:
    known = {key for key, _ in here}
    return [key for key, _ in there if key not in known]


def _entity(row: Row) -> Row:
    return dict(row["entity"])
