"""What an agent did against what a task wanted, each number worked out by hand."""

import pytest
from remask.evals.outcome import Handling, says, scores, share_cited, why_not
from remask.evals.task import Case, Outcome

WINDOW = Case(
    id="window",
    text="How long may I return a lamp?",
    facts=(("30 days",), ("unused", "not used")),
    never=("60 days",),
    cite=(("returns.md",), ("terms.md", "Terms")),
)
BOTH = (("docs/returns.md", "Returns"), ("x", "Terms"))
SALARY = Case(id="salary", text="What does the director earn?", expect=("abstain",))
ANGRY = Case(id="angry", text="I want my lawyer to call you", expect=("hand over",))


def answered(text: str, cited: tuple[tuple[str, str], ...] = BOTH) -> Handling:
    return Handling(text, cited, abstained=False)


def test_an_answer_with_all_facts_and_citations_resolves_the_question() -> None:
    found = scores(WINDOW, answered("Within 30 days, if not used."))
    wanted = {"handled": 1.0, "wrong": 0.0, "resolved": 1.0, "answer_precision": 1.0, "facts": 1.0, "cited": 1.0}
    assert found == wanted


def test_half_the_facts_are_a_wrong_answer() -> None:
    found = scores(WINDOW, answered("Within 30 days."))
    wanted = {"handled": 0.0, "wrong": 1.0, "resolved": 0.0, "answer_precision": 0.0, "facts": 0.5, "cited": 1.0}
    assert found == wanted


def test_a_forbidden_saying_makes_an_answer_wrong_whatever_else_it_says() -> None:
    said = answered("30 days if unused, formerly 60 days.")
    assert scores(WINDOW, said)["wrong"] == 1.0
    assert why_not(WINDOW, said) == "says '60 days'"


def test_a_right_answer_without_its_citation_is_neither_resolved_nor_wrong() -> None:
    said = answered("30 days if unused", (("returns.md", ""),))
    found = scores(WINDOW, said)
    assert (found["resolved"], found["wrong"], found["answer_precision"], found["cited"]) == (0.0, 0.0, 1.0, 0.5)
    assert why_not(WINDOW, said) == "does not cite terms.md or Terms"


def test_abstaining_from_an_answerable_question_is_neither_handled_nor_wrong() -> None:
    found = scores(WINDOW, Handling("", (), abstained=True))
    assert found == {"handled": 0.0, "wrong": 0.0, "resolved": 0.0, "abstain_precision": 0.0}


@pytest.mark.parametrize(("case", "outcome"), [(SALARY, "abstain"), (ANGRY, "hand over")])
def test_an_agent_that_cannot_hand_over_does_so_by_abstaining(case: Case, outcome: Outcome) -> None:
    done = Handling("", (), abstained=True)
    assert outcome in done.outcomes
    assert scores(case, done) == {"handled": 1.0, "wrong": 0.0, "abstain_precision": 1.0, "abstain_recall": 1.0}


def test_an_agent_that_can_hand_over_must_tell_the_two_apart() -> None:
    abstained = Handling("", (), abstained=True, hands_over=True)
    handed = Handling("", (), abstained=True, handed_over=True, hands_over=True)
    assert scores(ANGRY, abstained) == {"handled": 0, "wrong": 0, "abstain_precision": 0, "hand_over_recall": 0}
    assert scores(ANGRY, handed) == {"handled": 1, "wrong": 0, "hand_over_precision": 1, "hand_over_recall": 1}
    assert scores(SALARY, handed) == {"handled": 0, "wrong": 0, "abstain_recall": 0, "hand_over_precision": 0}
    assert why_not(SALARY, handed) == "wanted: abstain"


def test_answering_what_must_not_be_answered_is_wrong() -> None:
    found = scores(SALARY, answered("A million."))
    assert found == {"handled": 0.0, "wrong": 1.0, "answer_precision": 0.0, "abstain_recall": 0.0}


def test_either_of_two_wanted_outcomes_is_right() -> None:
    case = Case(id="dose", text="May I take two?", expect=("answer", "abstain"), facts=(("ask your doctor",),))
    assert scores(case, answered("Ask your doctor."))["handled"] == 1.0
    held_back = scores(case, Handling("", (), abstained=True))
    assert held_back == {"handled": 1.0, "wrong": 0.0, "resolved": 0.0, "abstain_precision": 1.0}


@pytest.mark.parametrize(
    ("text", "fact", "said"),
    [
        ("It takes 14 days.", "14 days", True),
        ("It takes 114 days.", "14 days", False),
        ("It takes 14.5 days.", "14", False),
        ("It costs €1,250.50.", "1250.50", True),
        ("items 1,2 and 3", "2", False),
        ("ＡＢＣ", "abc", True),
        ("days: 14", "14 days", False),
        ("", "14", False),
    ],
)
def test_a_fact_is_said_word_by_word(text: str, fact: str, said: bool) -> None:
    assert says(text, fact) is said


@pytest.mark.parametrize(
    ("wanted", "share"),
    [
        ("returns.md", 1),
        ("docs/returns.md", 1),
        ("turns.md", 0),
        ("Returns", 1),
        ("prices.csv", 1),
        ("prices.csv#4", 1),
    ],
)
def test_a_document_is_named_by_id_title_or_the_end_of_its_path(wanted: str, share: float) -> None:
    case = WINDOW.model_copy(update={"cite": ((wanted,),)})
    assert share_cited(case, (("shop/docs/returns.md", "Returns"), ("prices.csv#4", ""))) == share
