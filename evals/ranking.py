"""How good a ranking is, by the keys in it and what each is worth. Pure functions; values are trec_eval's.

A key that comes twice counts at its first place.
"""

from collections.abc import Mapping, Sequence
from math import log2

Relevance = Mapping[str, int]


def recall(ranked: Sequence[str], relevance: Relevance, k: int) -> float:
    """The share of the relevant keys among the first `k`.

    >>> recall(["x", "a"], {"a": 1, "b": 1}, 2)
    0.5
    """
    relevant = {key for key, worth in relevance.items() if worth > 0}
    return len(relevant & set(_first(ranked)[:k])) / len(relevant)


def all_found(ranked: Sequence[str], relevance: Relevance, k: int) -> float:
    """1 where the first `k` hold every relevant key, else 0: what a question with two hops needs."""
    return float(recall(ranked, relevance, k) == 1)


def ndcg(ranked: Sequence[str], relevance: Relevance, k: int) -> float:
    """Discounted gain over the best possible; a gain is the key's worth (Järvelin and Kekäläinen, TOIS 2002).

    >>> round(ndcg(["x", "a"], {"a": 1}, 10), 4)
    0.6309
    """
    gains = [max(0, relevance.get(key, 0)) for key in _first(ranked)[:k]]
    ideal = sorted((worth for worth in relevance.values() if worth > 0), reverse=True)[:k]
    return _discounted(gains) / _discounted(ideal)


def reciprocal_rank(ranked: Sequence[str], relevance: Relevance) -> float:
    """
    >>> reciprocal_rank(["x", "a"], {"a": 1})
    0.5
    """
    ranks = (rank for rank, key in enumerate(_first(ranked), 1) if relevance.get(key, 0) > 0)
    return 1 / next(ranks, float("inf"))


def scores(ranked: Sequence[str], relevance: Relevance, *, recall_at: Sequence[int] = (2, 5, 10)) -> dict[str, float]:
    """All of them. The query must have something relevant."""
    return {
        **{f"recall@{k}": recall(ranked, relevance, k) for k in recall_at},
        **{f"all@{k}": all_found(ranked, relevance, k) for k in recall_at},
        "nDCG@10": ndcg(ranked, relevance, 10),
        "MRR": reciprocal_rank(ranked, relevance),
    }


def _first(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
