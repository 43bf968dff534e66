"""Patient information from the leaflets in `documents/`, and from nothing else.

Every statement is quoted with its place and its leaflet's date. Where leaflets differ the newer one speaks first. What is
urgent is said before anything else; a diagnosis, or a dose that no leaflet states, is refused: see `prompts/rules.toml`.

    python agent.py "How much paracetamol may an adult take in a day?"
"""

import sys
from functools import cache
from pathlib import Path

from remask.agent import Agent
from remask.agent.guard import Guard, Guarded
from remask.agent.reply import Reply
from remask.agent.versions import Versions

HERE = Path(__file__).parent


@cache
def load(documents: Path = HERE / "documents") -> Guarded:
    leaflets = Agent.from_documents(documents)
    return Guarded(Versions(leaflets), Guard.read(HERE / "prompts" / "rules.toml"))


def answer(question: str) -> Reply:
    """What `remask eval task evals/task.toml --agent agent.py:answer` asks."""
    return load().ask(question)


def shown(reply: Reply) -> str:
    """The reply, then each quotation with its place, to the character."""
    lines = [reply.text]
    if reply.abstained and not reply.rule:
        lines = [(HERE / "prompts" / "no_answer.md").read_text(encoding="utf-8").strip()]
    for number, citation in enumerate(reply.citations, 1):
        lines.append(f"\n[{number}] {citation.title} ({citation.document_id}:{citation.start}-{citation.end})")
        lines.append(f'    "{citation.quote}"')
    return "\n".join(lines)


def main() -> None:
    if len(sys.argv) > 1:
        print(shown(answer(" ".join(sys.argv[1:]))))
        return
    print((HERE / "prompts" / "greeting.md").read_text(encoding="utf-8").strip())
    while question := input("? ").strip():
        print(shown(answer(question)), end="\n\n")


if __name__ == "__main__":
    main()
