"""What a collection says of itself: which format, which embedder, how passages and words were made."""

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import IndexUnusable
from ..lexical import LexicalOptions
from ..manifest import EmbedderRecord
from ..split import SplitOptions
from .address import Address
from .connection import Connection, Row
from .rows import NO_PLACE
from .schema import documents_of

FORMAT = 1
RECORD = "record"
"""The id of its row, which no document can have: theirs are 32 letters and digits."""


class CollectionRecord(BaseModel):
    """`split` is None where the caller split documents with a function of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    embedder: EmbedderRecord
    lexical: LexicalOptions
    split: SplitOptions | None


class _Format(BaseModel):
    format: int


def read(connection: Connection) -> CollectionRecord | None:
    """None where there is no collection, or one whose making was broken off before the first document.

    Raises IndexUnusable where a collection of that name is somebody else's, or newer than this version.
    """
    address = connection.address
    has_passages, has_documents = connection.has(address.name), connection.has(documents_of(address.name))
    if not has_documents:
        if has_passages:
            raise IndexUnusable(f"{address}: was not made by remask. Choose another name for your collection")
        return None
    for name in (address.name, documents_of(address.name)):
        if connection.has(name):
            connection.load(name)
    rows = connection.get(documents_of(address.name), [RECORD], ["about"])
    return _parsed(rows[0]["about"], address) if rows else None


def write(connection: Connection, record: CollectionRecord) -> None:
    row: Row = {"id": RECORD, "document_key": "", "document_id": "", "version": "", "number": -1, "pieces": 0}
    row |= {"about": record.model_dump_json(), "text": "", "place": NO_PLACE}
    connection.upsert(documents_of(connection.address.name), [row])


def _parsed(text: str, address: Address) -> CollectionRecord:
    try:
        found = _Format.model_validate_json(text).format
        if found > FORMAT:
            raise IndexUnusable(
                f"{address}: made by a newer version (format {found}, this one reads {FORMAT})."
                " Upgrade with: pip install -U remask"
            )
        return CollectionRecord.model_validate_json(text)
    except ValidationError as error:
        raise IndexUnusable(
            f"{address}: its own description is damaged: {error.errors()[0]['msg']}. Index into another collection"
        ) from error
