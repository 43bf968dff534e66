"""One ranking out of several. Pure functions; knows nothing of passages, words or vectors."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Ranking = Sequence[tuple[Key, float | None]]
"""Best first. A score of None means that the ranker gave an order and no score."""


def reciprocal_ranks(
    rankings: Mapping[str, Ranking[Key]], *, k: float = 60, weights: Mapping[str, float] | None = None
) -> list[tuple[Key, float]]:
    """Sum of weight / (k + rank) with ranks from 1 (Cormack et al., SIGIR 2009). Scores are not looked at.

    A key that a list holds twice counts once there, at its better rank.

    >>> reciprocal_ranks({"a": [("x", None), ("y", None)], "b": [("y", None)]}, k=1)
    [('y', 0.8333333333333333), ('x', 0.5)]
    """
    if k < 0:
        raise ValueError(f"k is {k!r}; it must not be negative")
    parts = {
        name: {key: 1 / (k + rank) for key, (rank, _) in _first_places(ranking).items()}
        for name, ranking in rankings.items()
    }
    return _summed(rankings, parts, weights or {})


def weighted_scores(
    rankings: Mapping[str, Ranking[Key]], *, floors: Mapping[str, float], weights: Mapping[str, float] | None = None
) -> list[tuple[Key, float]]:
    """Sum of weight * (score - floor) / (best score - floor): TM2C2 of Bruch et al., arXiv 2210.11934.

    A floor is the lowest score a ranker could give (BM25: 0, cosine: -1), not the lowest it gave, so one lone passage
    or a list of equal scores keeps its say. A passage missing from a list adds nothing for it: append the missing
    passages with their scores where they are known. One without a score (None) stays in the result and adds nothing.

    >>> weighted_scores({"a": [("x", 4.0), ("y", 1.0)], "b": [("y", 0.5)]}, floors={"a": 0, "b": -1})
    [('y', 1.25), ('x', 1.0)]
    """
    parts = {}
    for name, ranking in rankings.items():
        places = _first_places(ranking)
        scores = normalised([score for _, score in places.values()], floor=floors[name])
        parts[name] = dict(zip(places, scores, strict=True))
    return _summed(rankings, parts, weights or {})


def normalised(scores: Iterable[float | None], *, floor: float) -> list[float]:
    """From `floor` and the best score to 0 and 1. None becomes 0; scores that are all at the floor become 1.

    >>> normalised([3.0, 1.5, None], floor=0.0), normalised([0.0], floor=0.0)
    ([1.0, 0.5, 0.0], [1.0])
    """
    given = list(scores)
    top = max((score for score in given if score is not None), default=floor)
    if top <= floor:
        return [0.0 if score is None else 1.0 for score in given]
    return [0.0 if score is None else min(max((score - floor) / (top - floor), 0.0), 1.0) for score in given]


def _first_places(ranking: Ranking[Key]) -> dict[Key, tuple[int, float | None]]:
    """Each key's best rank with the score it has there."""
    places: dict[Key, tuple[int, float | None]] = {}
    for rank, (key, score) in enumerate(ranking, start=1):
        if key not in places or (places[key][1] is None and score is not None):
            places[key] = (places[key][0] if key in places else rank, score)
    return places


def _summed(
    rankings: Mapping[str, Ranking[Key]], parts: Mapping[str, Mapping[Key, float]], weights: Mapping[str, float]
) -> list[tuple[Key, float]]:
    """Best first; of equal sums the better single rank, then the earlier list."""
    total: dict[Key, float] = {}
    best_rank: dict[Key, int] = {}
    for name, ranking in rankings.items():
        for key, (rank, _) in _first_places(ranking).items():
            total[key] = total.get(key, 0.0) + weights.get(name, 1.0) * parts[name][key]
            best_rank[key] = min(best_rank.get(key, rank), rank)
    return sorted(total.items(), key=lambda item: (-item[1], best_rank[item[0]]))
