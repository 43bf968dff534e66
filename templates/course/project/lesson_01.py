"""Lesson 1: retrieval that you can explain.

A search that only gives a list can't be argued with. Ours says of each passage which ranker found it, at which rank
and with which score. BM25 (lexical) sees words: a word counts more the rarer it is, and repeats count less and less.
A dense ranker sees meaning: it compares one vector of the question with one vector of the passage. Each misses what
the other finds.

    python lesson_01.py

Exercise: `exercises/ex_01.py`, the weight that BM25 gives one word. Check it: pytest tests/test_ex_01.py
"""

from course import index

QUESTIONS = (
    "What does VH-31 mean?",  # a code, which a vector blurs
    "What do the animals eat in the cold season?",  # the document says winter
    "Are pets allowed?",  # the document says dogs
)


def explain(question: str) -> None:
    """The three best passages, with each ranker's own verdict."""
    print(f"\n{question}")
    for hit in index().search(question, 3):
        verdicts = ", ".join(f"{name} rank {v.rank} ({v.score:.2f})" for name, v in sorted(hit.rankers.items()))
        print(f"  {hit.score:.2f}  {hit.passage.title:40} {verdicts}")


def alone(question: str) -> None:
    """What each ranker puts first when it is asked alone."""
    for mode in ("lexical", "dense"):
        first = index().search(question, 1, mode=mode)
        print(f"  {mode:8} alone: {first[0].passage.title if first else 'nothing'}")


def main() -> None:
    for question in QUESTIONS:
        explain(question)
        alone(question)
    print("\nA passage keeps its place in its document, so whatever is found can be shown where it stands:")
    hit = index().search(QUESTIONS[0], 1)[0]
    document = index().document(hit.passage.document_id)
    print(f"  {document.id}, characters {hit.passage.start} to {hit.passage.end}")
    assert document.text[hit.passage.start : hit.passage.end] == hit.passage.text


if __name__ == "__main__":
    main()
