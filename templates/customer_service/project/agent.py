"""Customer service from the policies in `documents/` and the orders in SQLite, until a colleague takes over.

Follow-ups are understood, orders are looked up by number, a newer policy speaks before an older one, and whatever needs a
person gets one, with a summary: see `prompts/rules.toml`.

    python agent.py "How long do I have to return something?"
"""

import sys
from functools import cache
from pathlib import Path

from orders import look_up_order, mentioned
from remask.agent import Agent
from remask.agent.guard import Guard
from remask.agent.handover import Desk
from remask.agent.reply import Reply
from remask.agent.versions import Versions

HERE = Path(__file__).parent


@cache
def load(documents: Path = HERE / "documents") -> Agent:
    return Agent.from_documents(documents, tools=[look_up_order])


def desk(agent: Agent) -> Desk:
    """One customer's conversation."""
    asks = Versions(agent, ask=agent.session())
    return Desk(asks, Guard.read(HERE / "prompts" / "rules.toml"), say=words("hand_over"), facts=mentioned)


def answer(question: str) -> Reply:
    """A first contact: what `remask eval task evals/task.toml --agent agent.py:answer` asks."""
    return desk(load()).ask(question)


def shown(reply: Reply) -> str:
    lines = [words("no_answer") if reply.abstained and not reply.notice else reply.text]
    lines += [f'[{n}] {one.title} ({one.document_id}): "{one.quote}"' for n, one in enumerate(reply.citations, 1)]
    return "\n".join([*lines, *(["", "--- for the colleague ---", reply.summary] if reply.handed_over else [])])


def words(name: str) -> str:
    return (HERE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(shown(answer(" ".join(sys.argv[1:]))))
    else:
        print(words("greeting"))
        talk = desk(load())
        while not talk.handed_over and (question := input("? ").strip()):
            print(shown(talk.ask(question)), end="\n\n")
