"""Lesson 6: two hops. The draft is the next query.

"What was the founder of the yard that built the ferry called?" needs two documents, and the question names neither
yard nor founder. A first search brings what the words of the question bring. The draft, right or wrong, names what to
look up next: the agent searches again with the question and the draft's bridge, while the canvas stays (SARDI, arXiv
2606.06474).

    python lesson_06.py

Exercise: `exercises/ex_06.py`, when to search again and for what. Check it: pytest tests/test_ex_06.py
"""

from course import index, reader
from remask.agent import Agent, AgentOptions

QUESTIONS = (
    "When was the yard founded that built the ferry Sula?",
    "What was the job of the father of the physicist who opened the wind station?",
    "Who was the father of the woman who runs the general store?",
)


def ask(question: str, hops: int) -> None:
    options = AgentOptions(extra_hops=hops, top_k=1)
    answer = Agent(index(), reader(), documents=index().document, options=options).ask(question)
    print(f"  {hops + 1} search{'es' if hops else '  '} allowed: {answer.text!r}")
    for number, hop in enumerate(answer.trace.hops, 1):
        titles = [index().document(passage.rsplit("#", 1)[0]).title for passage in hop.added]
        print(f"      search {number} for {hop.query!r} brought {titles}")


def main() -> None:
    for question in QUESTIONS:
        print(f"\n{question}")
        for hops in (0, 1):
            ask(question, hops)


if __name__ == "__main__":
    main()
