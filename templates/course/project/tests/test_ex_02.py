"""Checks exercise 2. Skipped until you begin; a wrong answer fails."""


def test_what_both_find_comes_first(ex) -> None:
    assert ex.reciprocal_rank_fusion([["a", "b"], ["c", "b"]], k=1) == ["b", "a", "c"]


def test_one_ranking_stays_as_it_is(ex) -> None:
    assert ex.reciprocal_rank_fusion([["z", "y", "x"]]) == ["z", "y", "x"]


def test_a_large_k_trusts_agreement_more_than_a_first_place(ex) -> None:
    rankings = [["a", "b", "c", "d"], ["e", "f", "c", "g"]]
    assert ex.reciprocal_rank_fusion(rankings, k=60)[0] == "c"
    assert ex.reciprocal_rank_fusion(rankings, k=0)[0] == "a"


def test_no_rankings_give_nothing(ex) -> None:
    assert ex.reciprocal_rank_fusion([]) == []
