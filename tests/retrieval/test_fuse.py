import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.retrieval.fuse import normalised, reciprocal_ranks, weighted_scores

RANKING = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(-1, 50)), max_size=8)


def test_reciprocal_ranks_count_from_one():
    fused = reciprocal_ranks({"lexical": [("x", 9.0), ("y", 8.0)], "dense": [("y", 0.3)]}, k=60)
    assert fused == [("y", pytest.approx(1 / 62 + 1 / 61)), ("x", pytest.approx(1 / 61))]


def test_reciprocal_ranks_may_be_weighted():
    lists = {"lexical": [("x", None)], "dense": [("y", None)]}
    assert reciprocal_ranks(lists, k=1, weights={"dense": 2.0}) == [("y", 1.0), ("x", 0.5)]


def test_a_key_counts_once_a_list_at_its_best_rank():
    fused = reciprocal_ranks({"a": [("X", 3.0), ("X", 2.0), ("X", 1.0), ("Y", 0.5)], "b": [("Y", 1.0)]})
    assert fused == [("Y", pytest.approx(1 / 64 + 1 / 61)), ("X", pytest.approx(1 / 61))]
    weighted = weighted_scores({"a": [("X", 3.0), ("X", 2.0), ("Y", 1.5)], "b": [("Y", 1.0)]}, floors={"a": 0, "b": 0})
    assert weighted == [("Y", 1.5), ("X", 1.0)]


def test_weighted_scores_are_those_worked_out_by_hand():
    lists = {"lexical": [("x", 10.0), ("y", 5.0)], "dense": [("y", 0.6), ("x", 0.2)]}
    fused = weighted_scores(lists, floors={"lexical": 0, "dense": -1}, weights={"lexical": 0.3, "dense": 0.7})
    # x: 0.3 * 10/10 + 0.7 * 1.2/1.6; y: 0.3 * 5/10 + 0.7 * 1.6/1.6
    assert fused == [("y", pytest.approx(0.85)), ("x", pytest.approx(0.825))]


@pytest.mark.parametrize("scores", [[4.0], [4.0, 4.0], [0.0], [0.0, 0.0]])
def test_one_lone_score_or_equal_scores_do_not_vanish(scores):
    assert normalised(scores, floor=0.0) == [1.0] * len(scores)


def test_a_one_passage_list_keeps_its_say():
    lists = {"dense": [("d1", 0.9)], "lexical": [("d2", 4.0), ("d3", 4.0)]}
    fused = dict(weighted_scores(lists, floors={"dense": -1, "lexical": 0}))
    assert fused == {"d1": 1.0, "d2": 1.0, "d3": 1.0}


def test_an_entry_without_a_score_stays_and_counts_by_rank_only():
    ranking = {"a": [("a", 0.4), ("b", None)]}
    assert weighted_scores(ranking, floors={"a": 0}) == [("a", 1.0), ("b", 0.0)]
    assert [key for key, _ in reciprocal_ranks(ranking)] == ["a", "b"]


def test_agreement_of_two_rankers_adds_up_on_one_key():
    fused = reciprocal_ranks({"lexical": [("d#0-9", 1.0)], "dense": [("d#0-9", 0.1)]}, k=60)
    assert fused == [("d#0-9", pytest.approx(2 / 61))]


def test_ties_go_to_the_earlier_list():
    assert [key for key, _ in reciprocal_ranks({"a": [("x", None)], "b": [("y", None)]})] == ["x", "y"]


def test_no_rankings_or_empty_ones_fuse_to_nothing():
    assert reciprocal_ranks({}) == reciprocal_ranks({"a": []}) == []
    assert weighted_scores({"a": []}, floors={"a": 0}) == []


def test_a_negative_k_is_refused():
    with pytest.raises(ValueError, match="must not be negative"):
        reciprocal_ranks({}, k=-1)


@given(st.fixed_dictionaries({"lexical": RANKING, "dense": RANKING}))
def test_every_key_appears_once_with_a_finite_score_best_first(lists):
    keys = {key for ranking in lists.values() for key, _ in ranking}
    for fused in (reciprocal_ranks(lists), weighted_scores(lists, floors={"lexical": 0.0, "dense": -1.0})):
        assert {key for key, _ in fused} == keys
        assert len(fused) == len(keys)
        scores = [score for _, score in fused]
        assert scores == sorted(scores, reverse=True)
        assert all(math.isfinite(score) and 0 <= score <= 2 for score in scores)


@given(st.lists(st.floats(-1, 1), min_size=1), st.floats(0.1, 10))
def test_normalised_scores_keep_their_order_and_do_not_depend_on_the_unit(scores, unit):
    plain = normalised(scores, floor=-1.0)
    assert plain == pytest.approx(normalised([s * unit for s in scores], floor=-unit), abs=1e-6)
    pairs = sorted(zip(scores, plain, strict=True))
    assert [value for _, value in pairs] == sorted(plain)
