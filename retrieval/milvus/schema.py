"""The two collections of a store: passages to search, and the whole documents that they were cut from.

Words are ours, not Milvus's: text is cut by `words` as for a local index, and each word is written in letters and digits
that every tokenizer leaves whole. So a stemmed or Japanese question finds the same passages in a file, a server and a
cluster, whose own analyzers differ. Milvus counts them: the BM25 function, its idf and its lengths are its own.
"""

from collections.abc import Sequence
from typing import Any

from ..lexical import LexicalOptions
from .connection import Connection, pymilvus

TEXT_BYTES = 65_535
"""The longest VARCHAR of Milvus."""

ID_BYTES = 2_048
OWN = frozenset({"document_key", "document_id", "version", "about"})
"""Fields that both collections have, and hardly anybody else's."""

PASSAGE_FIELDS = ("document_id", "start", "end", "text", "about")


def documents_of(name: str) -> str:
    return f"{name}_documents"


def create(
    connection: Connection, lexical: LexicalOptions, dimension: int, *, dense_index: str, consistency: str
) -> None:
    """Both collections, where they are not there."""
    name = connection.address.name
    if not connection.has(documents_of(name)):
        connection.create(documents_of(name), *_documents(), consistency=consistency)
    if not connection.has(name):
        connection.create(name, *_passages(lexical, dimension, dense_index), consistency=consistency)


def _passages(lexical: LexicalOptions, dimension: int, dense_index: str) -> tuple[Any, Any]:
    types, schema = pymilvus().DataType, _schema()
    schema.add_field("id", types.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("document_key", types.VARCHAR, max_length=64)
    schema.add_field("document_id", types.VARCHAR, max_length=ID_BYTES)
    schema.add_field("version", types.VARCHAR, max_length=64)
    schema.add_field("text_key", types.VARCHAR, max_length=64)
    schema.add_field("start", types.INT64)
    schema.add_field("end", types.INT64)
    schema.add_field("text", types.VARCHAR, max_length=TEXT_BYTES)
    schema.add_field("about", types.VARCHAR, max_length=TEXT_BYTES)
    schema.add_field("tags", types.ARRAY, element_type=types.VARCHAR, max_capacity=1024, max_length=64)
    schema.add_field(
        "words", types.VARCHAR, max_length=TEXT_BYTES, enable_analyzer=True, analyzer_params={"tokenizer": "standard"}
    )
    schema.add_field("lexical", types.SPARSE_FLOAT_VECTOR)
    schema.add_field("dense", types.FLOAT_VECTOR, dim=dimension)
    bm25 = pymilvus().FunctionType.BM25
    schema.add_function(pymilvus().Function("bm25", bm25, input_field_names=["words"], output_field_names=["lexical"]))
    indexes = _indexes(["document_key", "text_key"])
    # Nested, as on the wire of old: pymilvus flattens what it is given, and Milvus Lite would not see it.
    weights = {"params": {"bm25_k1": lexical.k1, "bm25_b": lexical.b}}
    indexes.add_index("lexical", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=weights)
    indexes.add_index("dense", index_type=dense_index, metric_type="IP")  # of unit vectors, so a zero vector scores 0
    return schema, indexes


def _documents() -> tuple[Any, Any]:
    types, schema = pymilvus().DataType, _schema()
    schema.add_field("id", types.VARCHAR, is_primary=True, max_length=96)
    schema.add_field("document_key", types.VARCHAR, max_length=64)
    schema.add_field("document_id", types.VARCHAR, max_length=ID_BYTES)
    schema.add_field("version", types.VARCHAR, max_length=64)
    schema.add_field("number", types.INT64)
    schema.add_field("pieces", types.INT64)
    schema.add_field("about", types.VARCHAR, max_length=TEXT_BYTES)
    schema.add_field("text", types.VARCHAR, max_length=TEXT_BYTES)
    schema.add_field("place", types.FLOAT_VECTOR, dim=2)  # Milvus keeps no rows without a vector
    indexes = _indexes(["document_key", "number"])
    indexes.add_index("place", index_type="FLAT", metric_type="IP")
    return schema, indexes


def _schema() -> Any:
    return pymilvus().MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)


def _indexes(inverted: Sequence[str]) -> Any:
    indexes = pymilvus().MilvusClient.prepare_index_params()
    for field in inverted:
        indexes.add_index(field, index_type="INVERTED")
    return indexes
