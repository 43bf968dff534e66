"""Passages in Milvus: the same code against a Milvus Lite file, a server or a cluster. Needs `remask[milvus]`.

collection, changes = build(load("my-documents"), "milvus:http://localhost:19530#handbook")
for hit in collection.search("Who may cancel?", k=5):
    print(hit.score, hit.passage.title)
"""

from .address import Address, is_address
from .collection import Collection, build, embedder_of
from .options import MilvusOptions

__all__ = ["Address", "Collection", "MilvusOptions", "build", "embedder_of", "is_address"]
