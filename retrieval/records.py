"""Records in, documents out. Nothing here knows which file a record came from.

A record has its text in `text`, `content`, `contents`, `body` or `page_content`, or as a list of sentences in `sents`
or `sentences` (joined as they are; HotpotQA's layout). It may have an `id` (or `_id`, `doc_id`, `docid`) and a `title`.
Its other strings, numbers and booleans become metadata, as do those in a nested `metadata`. Case does not matter in
these names.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from .document import Document, Scalar
from .encoding import well_formed
from .errors import InvalidDocuments

TEXT_FIELDS = ("text", "content", "contents", "body", "page_content")
SENTENCE_FIELDS = ("sents", "sentences")
ID_FIELDS = ("id", "_id", "doc_id", "docid")


def from_records(records: Iterable[Mapping[str, object]]) -> Iterator[Document]:
    """A document for each record, lazily. Without an id it gets its row number: give ids to what comes in parts.

    Raises InvalidDocuments, naming the row, for a record without text or with the id of an earlier one.

    >>> next(from_records([{"id": 7, "text": "Hi.", "title": "Greeting", "year": 1984}]))
    Document(id='7', text='Hi.', title='Greeting', metadata={'year': 1984})
    """
    ids: set[str] = set()
    for row, record in enumerate(records, 1):
        document = record_document(record, row)
        if document.id in ids:
            raise InvalidDocuments(f"row {row}: the id {document.id!r} belongs to an earlier record")
        ids.add(document.id)
        yield document


def record_document(record: object, row: int) -> Document:
    """Raises InvalidDocuments, whose message begins with the row."""
    if not isinstance(record, Mapping):
        raise InvalidDocuments(f"row {row}: a record has named fields, but this is {str(record)[:40]!r}")
    fields: dict[str, object] = {str(name): value for name, value in record.items()}
    text = _field(fields, TEXT_FIELDS) or _field(fields, SENTENCE_FIELDS)
    identity = _field(fields, ID_FIELDS)
    title = _field(fields, ("title",))
    return Document(
        id=_id(fields.get(identity), row),
        text=_text(fields, text, row),
        title=well_formed(str(_scalar(fields.get(title)) or "")),
        metadata=_metadata(fields, (text, identity, title)),
    )


def left_out(record: Mapping[str, object]) -> Iterator[str]:
    """Names of the fields that `record_document` can't keep, so that a caller can say so."""
    document_fields = (*TEXT_FIELDS, *SENTENCE_FIELDS, "metadata")
    for name, value in record.items():
        if isinstance(value, list | dict) and name.lower() not in document_fields:
            yield name


def _field(fields: Mapping[str, object], names: Sequence[str]) -> str:
    """The field's name as the record spells it, or an empty string. An empty field is as good as none."""
    spelled = {name.lower(): name for name in reversed(list(fields)) if fields[name] not in (None, "")}
    return next((spelled[name] for name in names if name in spelled), "")


def _id(value: object, row: int) -> str:
    if value is None:
        return str(row)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidDocuments(f"row {row}: an id is a string or a whole number, not {value!r}")
    return well_formed(str(value))


def _text(fields: Mapping[str, object], name: str, row: int) -> str:
    value = fields.get(name)
    if value is None:
        empty = any(known.lower() in TEXT_FIELDS for known in fields)
        names = f"no field is called {', '.join(TEXT_FIELDS)} or sents; there are {', '.join(fields)[:200] or 'none'}"
        raise InvalidDocuments(f"row {row}: {'no text' if empty else names}")
    if name.lower() in SENTENCE_FIELDS and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "".join(cast(list[str], value))
    if not isinstance(value, str):
        raise InvalidDocuments(f"row {row}: {name!r} holds {type(value).__name__}, where text is needed")
    if not value.strip():
        raise InvalidDocuments(f"row {row}: no text")
    return well_formed(value)


def _metadata(fields: Mapping[str, object], taken: Sequence[str]) -> dict[str, Scalar]:
    rest = {name: value for name, value in fields.items() if name not in taken}
    nested = rest.get("metadata")
    merged = {**nested, **rest} if isinstance(nested, Mapping) else rest
    scalars = ((well_formed(str(name)), _scalar(value)) for name, value in merged.items())
    return {name: value for name, value in scalars if value is not None}


def _scalar(value: object) -> Scalar | None:
    if isinstance(value, str):
        return well_formed(value)
    return value if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)) else None
