"""A small retriever without an index, and agents over it. What it finds can be foreseen by eye."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from remask.agent import Agent, AgentOptions
from remask.dllm.draft import Generator
from remask.retrieval.document import Document, Hit, Passage, Ranked, Scalar
from remask.retrieval.split import split
from remask.retrieval.words import query_words


class Shelf:
    """Ranks passages by how many words they share with the query; `shuffle` then mixes what was found."""

    def __init__(self, documents: Sequence[Document], *, shuffle: int | None = None) -> None:
        self.documents = {document.id: document for document in documents}
        self.passages: list[Passage] = [passage for document in documents for passage in split(document)]
        self.queries: list[str] = []
        self.shuffle = shuffle

    def search(self, query: str, k: int, *, where: Mapping[str, Scalar] | None = None) -> list[Hit]:
        self.queries.append(query)
        wanted = set(query_words(query))
        shared = [(len(wanted & set(query_words(f"{p.title} {p.text}"))), p) for p in self.passages if _fits(p, where)]
        best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])[:k]
        if self.shuffle is not None:
            random.Random(self.shuffle).shuffle(best)
        return [Hit(p, float(n), {"words": Ranked(rank, float(n))}) for rank, (n, p) in enumerate(best, 1)]

    def document(self, document_id: str) -> Document:
        return self.documents[document_id]


def _fits(passage: Passage, where: Mapping[str, Scalar] | None) -> bool:
    return all(passage.metadata.get(key) == value for key, value in (where or {}).items())


def over(documents: Sequence[Document], generator: Generator, *, shuffle: int | None = None, **options: Any) -> Agent:
    """An agent over a shelf."""
    shelf = Shelf(documents, shuffle=shuffle)
    return Agent(shelf, generator, documents=shelf.document, options=AgentOptions(**options))


MIRA = Document(
    id="mira",
    title="Mira Holt",
    text="Mira Holt was a painter from Ulm. In 1952 she restored the fresco of Saint Anne. She died in 1990.",
)
ANNE = Document(
    id="anne",
    title="Saint Anne",
    text="Saint Anne is a chapel near the river. Its fresco shows a whale. The chapel holds 120 people.",
)
RIVER = Document(id="river", title="Blau", text="The Blau is a river of 22 km. It is fed by a deep blue spring.")
LIBRARY = (MIRA, ANNE, RIVER)
