"""Questions over the papers and notes in `documents/`, answered by a report whose every statement is quoted.

The agent searches again with what it drafted, so that an answer may rest on several papers. Then it reads each paper it found
by itself: the report says which differ, the newer first.

    python agent.py "What share of the phosphorus comes from the River Asker?"
    python agent.py --out report.md "When did zebra mussels arrive?"
"""

import argparse
from functools import cache
from pathlib import Path

from remask.agent import Agent, AgentOptions
from remask.agent.report import Report, report
from remask.agent.versions import VersionOptions

HERE = Path(__file__).parent
AGENT = AgentOptions(top_k=6, max_evidence=12, extra_hops=2)
READING = VersionOptions(max_documents=5)


@cache
def load(documents: Path = HERE / "documents") -> Agent:
    return Agent.from_documents(documents, options=AGENT)


def answer(question: str) -> Report:
    """What `remask eval task evals/task.toml --agent agent.py:answer` asks."""
    return report(load(), question, options=READING)


def main() -> None:
    arguments = argparse.ArgumentParser(description=words("greeting"))
    arguments.add_argument("question")
    arguments.add_argument("--out", type=Path, help="a file for the report; it must not exist yet")
    given = arguments.parse_args()
    page = answer(given.question).markdown() + f"\n{words('footer')}\n"
    if given.out is None:
        print(page)
        return
    with given.out.open("x", encoding="utf-8") as file:
        file.write(page)


def words(name: str) -> str:
    """What the agent says in its own words: one file each in `prompts/`."""
    return (HERE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


if __name__ == "__main__":
    main()
