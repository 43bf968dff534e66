"""Support by hand, and weights made of it."""

import pytest
from remask.agent.evidence import Reading
from remask.agent.support import LexicalScorer, content_words, numbers
from remask.agent.weigh import weigh
from remask.dllm.draft import Draft, Source
from remask.retrieval.document import Passage

score = LexicalScorer()


@pytest.mark.parametrize(
    ("question", "statement", "evidence", "support"),
    [
        ("Who painted the wall?", "Mira", "Mira painted the wall.", 1.0),
        ("Who painted the wall?", "Mira", "Mira slept.", 0.5),
        ("Who painted the wall?", "Mira", "The wall was painting-free.", 0.5),
        ("Who painted the wall?", "Mira Holt", "Mira painted it.", 0.5),
        ("Who?", "Mira", "Mira slept.", 1.0),
        ("Was it painted?", "", "They paint.", 1.0),
        ("Who painted the wall?", "Mira", "", 0.0),
        ("谁画了墙", "米拉", "米拉画了墙", 5 / 6),
    ],
)
def test_support_is_the_mean_share_of_the_words(question: str, statement: str, evidence: str, support: float) -> None:
    assert score(question, statement, evidence) == pytest.approx(support)


def test_a_text_of_stop_words_keeps_them() -> None:
    assert content_words("The Who") == {"the", "who"}


def test_numbers_are_compared_without_separators_of_thousands() -> None:
    assert numbers("12,345.5 and 12 345") == {"12345.5", "12", "345"}
    assert numbers("1’000 2,5") == {"1000", "2,5"}


def weight(draft: Draft, question: str = "Who painted the wall in 1952?") -> tuple[float, float]:
    passages = [Passage("a", "Mira painted it.", 0, 16, title="The wall"), Passage("b", "That was in 1952.", 0, 17)]
    weighed = weigh(draft, Reading.of(question, passages), score, support_share=0.5)
    return weighed.support, weighed.weight


def test_a_drafts_support_joins_all_its_grounds() -> None:
    both = (Source(0, 0, 5), Source(1, 0, 5))
    assert weight(Draft("Mira", kind="yes", confidence=0.25, cited=both)) == (1.0, 0.5)
    assert weight(Draft("Mira", kind="yes", confidence=0.25, cited=both[:1])) == pytest.approx((2 / 3, (2 / 12) ** 0.5))


def test_statements_count_by_their_length() -> None:
    support, _ = weight(Draft("Mira painted it. Bananas are ok.", confidence=0.25), "Who painted?")
    assert support == pytest.approx(16 / 31)


def test_a_number_that_the_grounds_lack_leaves_no_support() -> None:
    assert weight(Draft("Mira 1953", confidence=0.9, cited=(Source(0, 0, 5),))) == (0.0, 0.0)


def test_a_draft_that_says_nothing_needs_no_support() -> None:
    assert weight(Draft("", kind="none", confidence=0.25)) == (1.0, 0.5)
