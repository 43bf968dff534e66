"""Ranking metrics: values computed by hand, and trec_eval's as an oracle where it is installed."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.evals.ranking import all_found, ndcg, recall, reciprocal_rank, scores

GOLD = {"a": 1, "b": 1}


def test_recall_counts_relevant_keys_among_the_first() -> None:
    ranked = ["x", "a", "y", "b"]
    assert [recall(ranked, GOLD, k) for k in (1, 2, 4)] == [0, 0.5, 1]
    assert [all_found(ranked, GOLD, k) for k in (2, 4)] == [0, 1]


def test_ndcg_is_discounted_gain_over_the_best_possible() -> None:
    # Gains at ranks 2 and 4: 1/log2(3) + 1/log2(5); at best at ranks 1 and 2: 1 + 1/log2(3).
    wanted = (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))
    assert ndcg(["x", "a", "y", "b"], GOLD, 10) == pytest.approx(wanted)
    assert ndcg(["b", "a"], GOLD, 10) == 1
    assert ndcg(["x"] * 3, GOLD, 10) == 0


def test_ndcg_weighs_a_better_text_more() -> None:
    worth = {"a": 3, "b": 1, "c": 0}
    assert ndcg(["c", "b", "a"], worth, 2) == pytest.approx((1 / log2(3)) / (3 + 1 / log2(3)))


def test_the_reciprocal_rank_is_of_the_first_relevant_key() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], GOLD) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], GOLD) == 0


def test_a_key_that_comes_twice_takes_one_place() -> None:
    assert scores(["x", "x", "a", "a", "b"], GOLD) == scores(["x", "a", "b"], GOLD)


KEYS = "abcdefghijklmnop"


@given(
    st.permutations(KEYS).map(lambda keys: keys[:12]),
    st.dictionaries(st.sampled_from(KEYS), st.integers(0, 3), min_size=1).filter(lambda worth: any(worth.values())),
)
def test_all_values_are_trec_eval_s(ranked: list[str], relevance: dict[str, int]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pip install pytrec-eval-terrier")
    measures = {"recall.2,5,10", "ndcg_cut.10", "recip_rank"}
    judge = pytrec_eval.RelevanceEvaluator({"q": relevance}, measures)
    theirs = judge.evaluate({"q": {key: float(len(ranked) - rank) for rank, key in enumerate(ranked)}})["q"]
    ours = scores(ranked, relevance)
    for k in (2, 5, 10):
        assert ours[f"recall@{k}"] == pytest.approx(theirs[f"recall_{k}"])
    assert ours["nDCG@10"] == pytest.approx(theirs["ndcg_cut_10"])
    assert ours["MRR"] == pytest.approx(theirs["recip_rank"])
