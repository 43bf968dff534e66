"""What a customer may rely on: policies quoted, orders looked up and never changed, a colleague when one is needed."""

from pathlib import Path

import orders
import pytest
from remask.agent.errors import ToolFailed
from remask.agent.guard import Guard
from remask.agent.reply import Reply

import agent as program

HERE = Path(__file__).resolve().parents[1]
RULES = Guard.read(HERE / "prompts" / "rules.toml")


def test_an_order_is_looked_up_by_its_number() -> None:
    found = orders.look_up_order("LK-10238")
    assert (found["state"], found["item"], found["tracking_number"]) == (
        "dispatched",
        "L1 monitor; clamp",
        "HX 4410 2502",
    )


@pytest.mark.parametrize("number", ["LK-99999", "' OR 1=1 --"])
def test_an_order_that_is_not_there_is_said_so(number: str) -> None:
    with pytest.raises(ToolFailed, match="there is no order"):
        orders.look_up_order(number)


def test_orders_can_not_be_changed_from_here() -> None:
    with pytest.raises(orders.sqlite3.OperationalError, match="readonly"):
        orders._opened().execute("DELETE FROM orders")


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("My plug smells burnt!", "danger"),
        ("The monitor is smoking, and I want to speak to a person", "danger"),
        ("Can I talk to a human please?", "wants a person"),
        ("I want to complain about order LK-10244", "complaint"),
        ("Someone else is in my account", "account at risk"),
        ("My father has died, what happens with his plan?", "in need"),
    ],
)
def test_a_colleague_takes_over_with_a_summary(question: str, rule: str) -> None:
    reply = program.Desk(Unasked(), RULES, say="", facts=orders.mentioned).ask(question)
    assert (reply.rule, reply.handed_over) == (rule, True)
    assert question in reply.summary
    assert ("LK-10244: lost, Plug, set of three, £54.00" in reply.summary) is ("LK-10244" in question)


class Unasked:
    """An agent that must not be asked."""

    def ask(self, question: str) -> Reply:
        raise AssertionError(f"{question!r} was asked")


@pytest.mark.parametrize(
    "question", ["How do I complain?", "How long is the warranty of the L2 Pro?", "Where is my parcel?"]
)
def test_an_ordinary_question_stays_with_the_agent(question: str) -> None:
    assert RULES.applying(question) == ()


def test_a_policy_is_quoted_and_the_order_comes_from_the_database() -> None:
    talk = program.desk(program.load())
    policy = talk.ask("How much does express delivery in the United Kingdom cost?")
    for citation in policy.citations:
        text = (HERE / "documents" / citation.document_id).read_text(encoding="utf-8")
        assert text[citation.start : citation.end] == citation.quote
    order = talk.ask("What is the state of my order LK-10244?")
    assert order.answer is not None
    assert [call.arguments for call in order.answer.trace.calls] == [{"number": "LK-10244"}]
    assert "lost" in order.answer.trace.calls[0].result
