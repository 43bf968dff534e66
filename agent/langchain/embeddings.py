"""Our embedder as LangChain's Embeddings."""

from langchain_core.embeddings import Embeddings

from ...retrieval.embed import Embedder, default_embedder


class LocalEmbeddings(Embeddings):
    """Vectors of length 1 from the packaged MiniLM (384 dimensions), or from an embedder of yours; without a network."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder: Embedder = embedder or default_embedder()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(x) for x in row] for row in self.embedder.embed_passages(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(x) for x in self.embedder.embed_query(text)]
