"""Our search as a LangChain retriever. Each document it finds says where it stands in its source, to the character."""

from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from ...retrieval.document import Hit, Scalar
from ...retrieval.embed import Embedder
from ...retrieval.index import Index
from ..gather import Documents, Gathering


class HybridRetriever(BaseRetriever):
    """BM25 and vectors, fused. `retriever` is an `Index` or anything else that searches as `remask.retrieval.Retriever` does.

    The metadata of a document are its own, and `document_id`, `title`, `start`, `end`, `score` and `rankers`.
    """

    retriever: Any
    k: int = Field(default=4, ge=1)
    where: dict[str, Scalar] | None = None
    """Only documents whose metadata has these values."""

    @classmethod
    def from_index(cls, path: Path | str, *, embedder: Embedder | None = None, k: int = 4) -> "HybridRetriever":
        """Over an index in a folder. Raises RetrievalError where there is no sound one."""
        return cls(retriever=Index.open(path, embedder=embedder), k=k)

    @classmethod
    def from_documents(cls, documents: Documents, *, embedder: Embedder | None = None, k: int = 4) -> "HybridRetriever":
        """Indexed in memory: paths, Documents of ours, or records with a `text`."""
        return cls(retriever=Index.create(Gathering(documents), embedder=embedder), k=k)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        """`k` for one call: LangChain passes it on because it is named here."""
        hits = self.retriever.search(query, self.k if k is None else k, where=self.where)
        return [document_of(hit) for hit in hits]


def document_of(hit: Hit) -> Document:
    """A hit as LangChain has it."""
    passage = hit.passage
    place = {"document_id": passage.document_id, "title": passage.title, "start": passage.start, "end": passage.end}
    rankers = {name: {"rank": ranked.rank, "score": ranked.score} for name, ranked in hit.rankers.items()}
    found = {**passage.metadata, **place, "score": hit.score, "rankers": rankers}
    return Document(page_content=passage.text, id=passage.id, metadata=found)
