"""What a collection says of itself: which format, which embedder, how passages and words were made."""

from pydantic import BaseModel, ConfigDict, ValidationError

from ..embed import Embedder
from ..errors import IndexUnusable
from ..lexical import LexicalOptions
from ..manifest import EmbedderRecord
from ..split import SplitOptions
from . import schema
from .address import Address
from .connection import Connection, Row
from .options import MilvusOptions
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

    Raises IndexUnusable where a collection of that name, or of that of its documents, is somebody else's, or newer than
    this version.
    """
    address = connection.address
    has_passages, has_documents = connection.has(address.name), connection.has(documents_of(address.name))
    for name, there in ((address.name, has_passages), (documents_of(address.name), has_documents)):
        if there and not connection.fields(name).keys() >= schema.OWN:
            raise IndexUnusable(f"{address}: was not made by remask. Choose another name for your collection")
        if there:
            connection.load(name)
    if not has_documents:
        return None
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


def make(
    connection: Connection,
    embedder: Embedder,
    lexical: LexicalOptions | None,
    sizes: SplitOptions | None,
    options: MilvusOptions,
) -> CollectionRecord:
    """The record goes last: a making that broke off is begun again, with nothing lost since nothing was in it."""
    name = connection.address.name
    for broken in (name, documents_of(name)):
        if connection.has(broken):
            if held := connection.count(broken):
                raise IndexUnusable(f"{broken!r} holds {held:,} rows and no description. Choose another name")
            connection.drop(broken)
    dimension = len(embedder.embed_query("dimension"))
    described = CollectionRecord(
        embedder=EmbedderRecord(name=embedder.name, fingerprint=embedder.fingerprint, dimension=dimension),
        lexical=lexical or LexicalOptions(),
        split=sizes,
    )
    kind = options.dense_index or ("FLAT" if connection.address.file else "AUTOINDEX")
    schema.create(connection, described.lexical, dimension, dense_index=kind, consistency=options.consistency)
    write(connection, described)
    return described


def check_embedder(connection: Connection, described: CollectionRecord, embedder: Embedder) -> None:
    made = described.embedder
    if made.fingerprint != embedder.fingerprint:
        raise IndexUnusable(
            f"{connection.address}: was made by the embedder {made.name!r} ({made.dimension} dimensions), not by"
            f" {embedder.name!r} as it is here. Use that one, or index the documents again into another collection"
        )
    kept = int(connection.fields(connection.address.name)["dense"]["dim"])
    if kept != made.dimension:
        raise IndexUnusable(
            f"{connection.address}: keeps vectors of {kept} dimensions, and {made.name!r} makes {made.dimension}."
            " It was changed by something else: index the documents again into another collection"
        )


def check_options(
    address: Address, described: CollectionRecord, lexical: LexicalOptions | None, sizes: SplitOptions | None
) -> None:
    for name, own, asked in (("lexical", described.lexical, lexical), ("split", described.split, sizes)):
        if asked is not None and asked != own:
            raise IndexUnusable(
                f"{address}: was made with {name} options {own!r}, not {asked!r}."
                " Leave the option out, or choose another collection"
            )
