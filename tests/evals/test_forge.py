"""Texts made to confuse: what is kept, what is changed, and that the same seed makes the same."""

import pytest
from remask.evals.forge import COPY, contradiction, false_answer, near_duplicate
from remask.evals.question import Paragraph

from .sheets import HOLT, RIVERS, WHALE, question

LONG = Paragraph(
    "Lamp", tuple(f"{' ' * (n > 0)}This is sentence number {n} of the text about a lamp." for n in range(12))
)


def test_a_near_duplicate_has_nearly_the_same_words_in_another_order() -> None:
    made = near_duplicate(LONG, 0)
    before, after = "".join(LONG.sentences).split(), "".join(made.sentences).split()
    assert made.title == "Lamp" + COPY
    assert len(made.sentences) == len(LONG.sentences)
    assert set(after) <= set(before)
    assert 0.8 * len(before) < len(after) < len(before)
    assert after != before


def test_it_is_the_same_under_a_seed_and_another_for_another_number() -> None:
    assert near_duplicate(LONG, 1, seed=3) == near_duplicate(LONG, 1, seed=3)
    assert len({near_duplicate(LONG, number, seed=3) for number in range(4)}) == 4


def test_a_contradiction_swaps_the_answer_wherever_it_stands_as_a_word() -> None:
    text = Paragraph("A", ("Ada Holt met ADA HOLT.", " Mada Holt did not."))
    made = contradiction(text, ["Ada Holt", "Holt"], "Bo Lind")
    assert made == Paragraph("A" + COPY, ("Bo Lind met Bo Lind.", " Mada Bo Lind did not."))


@pytest.mark.parametrize("answers", [["yes"], [], ["Nowhere"]])
def test_what_cannot_be_swapped_is_not(answers: list[str]) -> None:
    assert contradiction(LONG, answers, "x") is None


def test_a_false_answer_is_of_the_same_kind_and_not_in_the_right_paragraphs() -> None:
    asked = question(HOLT)
    others = ["Saint Anne", "Bo Lind", "1952", "yes", "a whale", "Mira Holt"]
    assert false_answer(asked, others) == "Bo Lind"
    assert false_answer(asked, ["1952", "yes"]) == ""


def test_yes_and_no_have_no_false_answer() -> None:
    assert false_answer(question(RIVERS), ["no", "Bo Lind"]) == ""


def test_an_answer_that_stands_in_no_right_paragraph_has_none_either() -> None:
    assert false_answer(question(WHALE | {"answer": "a dolphin"}), ["a herring"]) == ""
