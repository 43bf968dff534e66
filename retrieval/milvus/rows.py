"""Documents and passages as rows of Milvus, and back. Pure functions: nothing here connects to anything."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..document import Document, Passage, Scalar, Span
from ..errors import InvalidDocuments
from ..hybrid import Where
from ..update import indexed_text
from ..words import WordOptions, passage_words
from .connection import Row
from .schema import ID_BYTES, TEXT_BYTES

PIECE_BYTES = 60_000
NO_PLACE = [0.0, 0.0]


def key_of(*parts: object) -> str:
    """Letters and digits that stand for these parts: safe in any expression, whatever an id holds.

    >>> key_of("a"), len(key_of("ab", 1))
    ('f53b3155b302982e196b7645b7b614b1', 32)
    """
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def version_of(document: Document) -> str:
    """Differs where documents differ, also in metadata."""
    return key_of(document.model_dump_json())


def text_key(passage: Passage) -> str:
    return key_of(indexed_text(passage))


def in_any(field: str, keys: Sequence[str]) -> str:
    """
    >>> in_any("text_key", ["a1", "b2"])
    'text_key in ["a1", "b2"]'
    """
    return f"{field} in {json.dumps(list(keys))}"


def passage_row(document: Document, version: str, passage: Passage, vector: Sequence[float], words: WordOptions) -> Row:
    """Its id says which version of the document it belongs to, so sending it twice keeps it once."""
    about: dict[str, Any] = {"title": passage.title, "metadata": dict(passage.metadata)}
    about["sentences"] = [[span.start, span.end] for span in passage.sentences]
    return {
        "id": key_of(document.id, version, passage.start, passage.end),
        "document_key": key_of(document.id),
        "document_id": _fitting(document.id, ID_BYTES, document, "its id"),
        "version": version,
        "text_key": text_key(passage),
        "start": passage.start,
        "end": passage.end,
        "text": _fitting(passage.text, TEXT_BYTES, document, f"the passage {passage.start}-{passage.end}"),
        "about": _fitting(json.dumps(about), TEXT_BYTES, document, "a passage's title, metadata and sentences"),
        "tags": sorted({tag(name, value) for name, value in passage.metadata.items()}),
        "words": _fitting(spelled(passage_words(indexed_text(passage), words)), TEXT_BYTES, document, "a passage"),
        "dense": list(vector),
    }


def passage_of(row: Row) -> Passage:
    about = json.loads(row["about"])
    return Passage(
        row["document_id"],
        row["text"],
        int(row["start"]),
        int(row["end"]),
        title=about["title"],
        metadata=about["metadata"],
        sentences=tuple(Span(*pair) for pair in about["sentences"]),
    )


def head_id(document_id: str) -> str:
    return key_of(document_id)


def piece_ids(document_id: str, version: str, pieces: int) -> list[str]:
    """Of all pieces but the first, which lies in the head."""
    return [f"{key_of(document_id)}-{version}-{number}" for number in range(1, pieces)]


def document_rows(document: Document, version: str) -> list[Row]:
    """The head first; it alone makes the document whole, so it has to be sent last."""
    pieces = list(_pieces(document.text)) or [""]
    ids = [head_id(document.id), *piece_ids(document.id, version, len(pieces))]
    about = json.dumps({"title": document.title, "metadata": document.metadata})
    return [
        {
            "id": row_id,
            "document_key": key_of(document.id),
            "document_id": _fitting(document.id, ID_BYTES, document, "its id"),
            "version": version,
            "number": number,
            "pieces": len(pieces),
            "about": _fitting(about, TEXT_BYTES, document, "its title and metadata") if number == 0 else "",
            "text": piece,
            "place": NO_PLACE,
        }
        for number, (row_id, piece) in enumerate(zip(ids, pieces, strict=True))
    ]


def unfinished_head(document_id: str) -> Row:
    """Stands for a document that is being written: it has no version yet, so it is written again after a break."""
    row = document_rows(Document(id=document_id, text=""), "")[0]
    return {**row, "pieces": 0}


def document_of(head: Row, pieces: Sequence[Row]) -> Document:
    about = json.loads(head["about"])
    ordered = sorted(pieces, key=lambda row: int(row["number"]))
    text = head["text"] + "".join(row["text"] for row in ordered)
    return Document(id=head["document_id"], text=text, title=about["title"], metadata=about["metadata"])


def metadata_of(head: Row) -> Mapping[str, Scalar]:
    found: dict[str, Scalar] = json.loads(head["about"])["metadata"]
    return found


def tag(name: str, value: Scalar) -> str:
    """One value of one metadata field. Numbers that are equal have one tag; True is not 1.

    >>> tag("year", 2025) == tag("year", 2025.0), tag("draft", True) == tag("draft", 1)
    (True, False)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return key_of(name, type(value).__name__, value)


def expression(where: Where | None) -> str | None:
    """A filter as Milvus writes it: "" for everything, None where nothing can match."""
    parts = []
    for name, wanted in (where or {}).items():
        values = [wanted] if isinstance(wanted, str | int | float | bool) else list(wanted)
        if not values:
            return None
        parts.append(f"ARRAY_CONTAINS_ANY(tags, {json.dumps([tag(name, value) for value in values])})")
    return " and ".join(parts)


def spelled(words: Sequence[str]) -> str:
    """Words as any tokenizer leaves them: those of other letters than a to z in their code, behind a mark of their own.

    >>> spelled(["rain", "雨"])
    'rain zze99ba8'
    """
    return " ".join(word if word.isascii() and word.isalnum() else f"zz{word.encode().hex()}" for word in words)


def _pieces(text: str) -> Iterator[str]:
    """Cut between characters; each at most `PIECE_BYTES` long in UTF-8."""
    data, start = text.encode(), 0
    while start < len(data):
        piece = data[start : start + PIECE_BYTES].decode(errors="ignore")  # leaves out a character that was cut
        yield piece
        start += len(piece.encode())


def _fitting(text: str, limit_bytes: int, document: Document, what: str) -> str:
    size = len(text.encode())
    if size > limit_bytes:
        raise InvalidDocuments(
            f"document {document.id!r}: {what} takes {size:,} bytes, and Milvus keeps {limit_bytes:,} in a field."
            " Split the document into smaller passages, or shorten this"
        )
    return text
