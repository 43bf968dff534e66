"""One ranking out of several. Pure functions; knows nothing of passages, words or vectors.

The defaults come from this table: in percent, the mean share of the two gold paragraphs found, its bootstrap 95% interval
(10,000 resamples of questions, seed 0), and the share of questions with both. 518 HotpotQA dev questions of the
distractor setting, from a pool of 16,837 Wikipedia paragraphs (so not the official fullwiki setting, which has five
million), title and text indexed; all-MiniLM-L6-v2; both rankers propose 100; k1 1.2, b 0.75 and stemming if not said.

    python -m remask.retrieval.bench recall --corpus hotpotqa_pooled.jsonl.gz --questions hotpotqa_devrest_train.jsonl.gz

                                                            @2                        @5                       @10
lexical, k1 0.9, b 0.4, no stemming   54.9 [52.3, 57.5] / 24.1  70.9 [68.5, 73.4] / 46.1  81.8 [79.5, 83.9] / 64.7
lexical, k1 1.2, b 0.75, no stemming  56.3 [53.7, 58.9] / 25.5  72.2 [69.7, 74.6] / 48.5  84.3 [82.2, 86.3] / 69.3
lexical, k1 0.9, b 0.4                57.2 [54.6, 59.7] / 26.1  73.2 [70.7, 75.6] / 50.2  82.5 [80.4, 84.6] / 66.2
lexical, k1 1.2, b 0.75               58.3 [55.7, 60.8] / 27.8  75.1 [72.6, 77.5] / 53.7  84.7 [82.6, 86.7] / 70.3
lexical, stop words                   58.0 [55.4, 60.6] / 27.8  74.0 [71.5, 76.4] / 51.7  85.2 [83.1, 87.3] / 71.2
dense                                 54.3 [51.7, 56.9] / 22.6  67.8 [65.2, 70.4] / 42.9  75.9 [73.4, 78.3] / 55.6
RRF, k = 60                           58.7 [56.2, 61.3] / 28.0  74.6 [72.2, 77.0] / 52.3  83.9 [81.8, 86.0] / 68.7
RRF, k = 10                           58.9 [56.4, 61.5] / 28.2  76.8 [74.4, 79.2] / 56.4  86.5 [84.5, 88.4] / 73.4
weighted, dense 0.3                   60.9 [58.4, 63.4] / 30.7  75.8 [73.4, 78.1] / 54.4  86.5 [84.5, 88.3] / 73.4
weighted, dense 0.5                   62.5 [60.0, 64.9] / 32.2  76.6 [74.3, 78.9] / 55.4  87.1 [85.1, 88.9] / 74.5
weighted, dense 0.6                   62.8 [60.4, 65.3] / 33.2  77.8 [75.5, 80.0] / 57.7  87.5 [85.5, 89.3] / 75.3
weighted, dense 0.7                   62.6 [60.1, 65.1] / 32.8  78.0 [75.7, 80.2] / 58.1  87.5 [85.5, 89.3] / 75.3
weighted, dense 0.8                   61.8 [59.3, 64.2] / 31.5  78.3 [76.0, 80.6] / 58.7  86.1 [84.1, 88.0] / 72.8
weighted, dense 0.7, no stemming      61.6 [59.1, 64.1] / 31.5  77.4 [75.1, 79.6] / 56.9  87.4 [85.4, 89.2] / 75.1

Equal-weight RRF(60) is no better than BM25 alone, as published; the weighted sum of normalised scores is. Between dense
weights of 0.5 and 0.8 the differences are within noise. (Scores that a ranker did not list must be filled in: with zeros
instead, dense 0.7 loses 3 points at 10.)
"""

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
    places = {name: _first_places(ranking) for name, ranking in rankings.items()}
    parts = {name: [1 / (k + rank) for rank, _ in place.values()] for name, place in places.items()}
    return _summed(places, parts, weights or {})


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
    places = {name: _first_places(ranking) for name, ranking in rankings.items()}
    parts = {
        name: normalised([score for _, score in place.values()], floor=floors[name]) for name, place in places.items()
    }
    return _summed(places, parts, weights or {})


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
    places: Mapping[str, Mapping[Key, tuple[int, float | None]]],
    parts: Mapping[str, Sequence[float]],
    weights: Mapping[str, float],
) -> list[tuple[Key, float]]:
    """Best first; of equal sums the better single rank, then the earlier list."""
    total: dict[Key, float] = {}
    best_rank: dict[Key, int] = {}
    for name, place in places.items():
        weight = weights.get(name, 1.0)
        for (key, (rank, _)), part in zip(place.items(), parts[name], strict=True):
            total[key] = total.get(key, 0.0) + weight * part
            best_rank[key] = min(best_rank.get(key, rank), rank)
    return sorted(total.items(), key=lambda item: (-item[1], best_rank[item[0]]))
