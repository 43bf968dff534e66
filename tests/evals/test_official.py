"""The metrics: values computed by hand, and the rules written a second time as an oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.evals.official import Overlap, answer_overlap, fact_overlap, joint, scores

from .official_script import answer_scores, fact_scores


@pytest.mark.parametrize(
    ("said", "right", "em", "f1"),
    [
        ("Yes.", "yes", 1, 1),
        ("yes, both are", "yes", 0, 0),
        ("yes", "yes, both are", 0, 0),
        ("noanswer", "no", 0, 0),
        ("The Beatles", "beatles", 1, 1),
        ("the answer is Paris", "Paris", 0, 0.5),
        ("New York City", "New York", 0, 0.8),
        ("1,000", "1000", 1, 1),
        ("U.S.A.", "USA", 1, 1),
        ("well-known", "well known", 0, 0),
        ("to be or not to be", "to be", 0, 0.5),
        ("A", "A", 1, 0),
        ("", "yes", 0, 0),
        ("", "Paris", 0, 0),
    ],
)
def test_answers_score_as_the_official_script_scores_them(said: str, right: str, em: float, f1: float) -> None:
    found = answer_overlap(said, [right])
    assert (found.em, found.f1) == (em, pytest.approx(f1))


def test_the_best_of_several_right_answers_counts() -> None:
    assert answer_overlap("New York", ["the Big Apple", "New York City", "New York"]) == Overlap(1, 1, 1, 1)


def test_without_a_right_answer_only_silence_is_right() -> None:
    assert answer_overlap("", []).f1 == 1
    assert answer_overlap("Paris", []).em == 0


def test_supporting_facts_are_compared_as_sets() -> None:
    gold = [("A", 0), ("B", 2)]
    assert fact_overlap([("B", 2), ("A", 0), ("A", 0)], gold) == Overlap(1, 1, 1, 1)
    assert fact_overlap([("A", 0), ("A", 1), ("C", 0)], gold) == Overlap(
        0, pytest.approx(0.4), pytest.approx(1 / 3), 0.5
    )
    assert fact_overlap([], gold) == Overlap(0, 0, 0, 0)


def test_a_title_must_be_the_very_same() -> None:
    assert fact_overlap([("a", 0)], [("A", 0)]).f1 == 0


def test_where_paragraphs_are_marked_whole_any_sentence_of_them_counts() -> None:
    assert fact_overlap([("A", 3), ("A", 4)], [("A", -1)]) == Overlap(1, 1, 1, 1)


def test_joint_multiplies_precision_and_recall_and_not_f1() -> None:
    # Answer: precision 1/2, recall 1. Facts: precision 1, recall 1/2. Products 1/2 and 1/2, so F1 is 1/2.
    found = scores("the answer Paris", [("A", 0)], ["Paris"], [("A", 0), ("B", 0)])
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["sp_f1"] == pytest.approx(2 / 3)
    assert (found["joint_prec"], found["joint_recall"], found["joint_f1"]) == (0.5, 0.5, 0.5)


def test_joint_is_exact_only_where_both_are() -> None:
    right, wrong = Overlap(1, 1, 1, 1), Overlap(0, 0, 0, 0)
    assert joint(right, right).em == 1
    assert joint(right, wrong) == joint(wrong, right) == Overlap(0, 0, 0, 0)


def test_a_perfect_answer_without_facts_is_not_jointly_right() -> None:
    found = scores("Paris", [], ["Paris"], [("A", 0)])
    assert (found["f1"], found["sp_f1"], found["joint_f1"]) == (1, 0, 0)


def test_without_marked_facts_only_the_answer_is_scored() -> None:
    assert set(scores("Paris", [("A", 0)], ["Paris"], None)) == {"em", "f1", "prec", "recall"}


WORDS = st.lists(st.sampled_from(["yes", "no", "the", "A", "noanswer", "Paris,", "paris", "U.S.", "b-c", "1,000", "é"]))
FACTS = st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 2)), max_size=5)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_answers_agree_with_the_rules_written_a_second_time(said: str, right: str) -> None:
    assert tuple(answer_overlap(said, [right])) == pytest.approx(answer_scores(said, right))


@given(FACTS, FACTS)
def test_facts_agree_with_the_rules_written_a_second_time(
    said: list[tuple[str, int]], right: list[tuple[str, int]]
) -> None:
    assert tuple(fact_overlap(said, right)) == pytest.approx(fact_scores(said, right))
