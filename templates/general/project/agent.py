"""Ask the documents in `documents/`: one question on the command line, or a chat without one.

python agent.py "How much is a day pass?"
python agent.py
"""

import sys
from pathlib import Path

from remask.agent import Agent, Answer

HERE = Path(__file__).parent


def load() -> Agent:
    """Reads the documents anew, so that what you add there counts at once. For many, make an index: see README.md."""
    return Agent.from_documents(HERE / "documents")


def shown(answer: Answer) -> str:
    """The answer, then each quotation with its place, to the character."""
    if answer.abstained:
        return f"{words('no_answer')}\n({answer.reason})"
    lines = [answer.text, ""]
    for number, citation in enumerate(answer.citations, 1):
        lines.append(f"[{number}] {citation.title} ({citation.document_id}:{citation.start}-{citation.end})")
        lines.append(f'    "{citation.quote}"')
    return "\n".join(lines)


def words(name: str) -> str:
    """What the agent says in its own words: one file each in `prompts/`."""
    return (HERE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def chat(agent: Agent) -> None:
    """Until an empty line. A follow-up such as "and on Sundays?" is asked in full."""
    print(words("greeting"))
    conversation = agent.session()
    while question := input("? ").strip():
        print(shown(conversation.ask(question)), end="\n\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(shown(load().ask(" ".join(sys.argv[1:]))))
    else:
        chat(load())
