"""Documents in Milvus that can be searched: made, opened, added to, deleted from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from ..document import Document, Hit, Passage, Scalar
from ..embed import Embedder, default_embedder, load_embedder
from ..errors import IndexUnusable, InvalidDocuments
from ..hybrid import Mode, Where
from ..index import Changes, Splitter, SpreadSplit
from ..lexical import LexicalOptions
from ..progress import Progress
from ..split import SplitOptions, split
from . import record
from .address import Address
from .connection import Connection
from .ingest import Ingest
from .options import MilvusOptions
from .ranking import Ranking
from .record import CollectionRecord
from .rows import document_of, expression, head_id, metadata_of, piece_ids
from .schema import documents_of

HEAD = ["id", "document_id", "version", "pieces", "about", "text"]


class Collection:
    """A `Retriever` over Milvus that can change. Make one with `build`, open one with `open`.

    Documents are written one batch after another, each of them whole or, after a break, again: unlike a folder's index
    this is no single step. A search meanwhile may meet passages of both versions of a document that is being replaced.
    """

    def __init__(
        self,
        connection: Connection,
        described: CollectionRecord,
        embedder: Embedder,
        *,
        splitter: Splitter | None,
        options: MilvusOptions,
    ) -> None:
        self.embedder = embedder
        self.options = options
        self.record = described
        self._connection = connection
        self._splitter = splitter

    @classmethod
    def open(
        cls,
        address: str,
        *,
        embedder: Embedder | None = None,
        splitter: Splitter | None = None,
        options: MilvusOptions | None = None,
    ) -> "Collection":
        """Raises IndexUnusable where there is no such collection, or another embedder made it; StoreUnavailable where
        Milvus can't be reached; EmbedderUnavailable where none is given and the collection's own is not here."""
        place, chosen = Address.parse(address), options or MilvusOptions()
        connection = Connection(place, timeout_seconds=chosen.timeout_seconds, create=False)
        described = record.read(connection)
        if described is None:
            raise IndexUnusable(
                f"{place}: there is no such collection. Make it with: remask index DOCUMENTS --store {place}"
            )
        own = embedder or load_embedder(described.embedder.name)
        record.check_embedder(connection, described, own)
        return cls(connection, described, own, splitter=splitter, options=chosen)

    @property
    def address(self) -> Address:
        return self._connection.address

    def close(self) -> None:
        self._connection.close()

    def __len__(self) -> int:
        """How many passages there are, those of half-written documents among them."""
        return self._connection.count(self.address.name)

    def __bool__(self) -> bool:
        return True

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Documents that a break left half-written. They are found, never cited, and written anew when given again."""
        return tuple(key for key, version in self._heads() if not version)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """In no order."""
        return tuple(key for key, version in self._heads() if version)

    def document(self, document_id: str) -> Document:
        """The whole text that a passage of this document was cut from. KeyError where there is none."""
        heads = self._connection.get(documents_of(self.address.name), [head_id(document_id)], HEAD)
        if not heads or not heads[0]["version"]:
            raise KeyError(document_id)
        ids = piece_ids(document_id, heads[0]["version"], int(heads[0]["pieces"]))
        pieces = self._connection.get(documents_of(self.address.name), ids, ["number", "text"])
        if len(pieces) < len(ids):
            raise KeyError(document_id)  # replaced just now, between the two requests
        return document_of(heads[0], pieces)

    def search(self, query: str, k: int = 10, *, where: Where | None = None, mode: Mode = "hybrid") -> list[Hit]:
        """As `HybridRetriever.search`: best first, at most `k`; `where` narrows before the best are picked."""
        if k < 1:
            raise ValueError(f"k is {k!r}; ask for at least one passage")
        if mode not in ("hybrid", "lexical", "dense"):
            raise ValueError(f"{mode!r} is no way to search. Use 'hybrid', 'lexical' or 'dense'")
        narrowed = expression(where)
        if not query.strip() or narrowed is None:
            return []
        query = query.encode("utf-8", "replace").decode()
        ranking = Ranking(self._connection, self.record.lexical, self.options, narrowed)
        return ranking.hits(query, lambda: self.embedder.embed_query(query), k, mode)

    def add(
        self, documents: Iterable[Document], *, progress: Progress | None = None, spread: SpreadSplit | None = None
    ) -> Changes:
        """Add new documents, replace those whose content differs, leave the rest alone. Takes them a batch at a time.

        After an error what was sent is kept; the same call goes on there. Passages whose text is already here are not
        embedded again. `progress` is told passages, and how many there are so far. With `spread` documents are split
        elsewhere, such as on a cluster.
        """
        ingest = Ingest(self._connection, self.embedder, self.record, partial(self._all_cut, spread=spread))
        done = Changes()
        given = iter(documents)
        while batch := list(islice(given, self.options.batch_passages)):
            done = _sum(done, ingest.add(batch, self.options.batch_passages))
            if progress:
                progress(ingest.passages, ingest.passages)
        if done.added or done.updated:
            ingest.flush()
        return done

    def delete(self, document_ids: Iterable[str]) -> int:
        """Remove these documents; ids that are unknown are passed over. How many went."""
        ingest = Ingest(self._connection, self.embedder, self.record, self._all_cut)
        given, gone = iter(dict.fromkeys(document_ids)), 0
        while batch := list(islice(given, 1000)):
            gone += ingest.delete(batch)
        return gone

    def origins(self) -> Iterator[tuple[str, Mapping[str, Scalar]]]:
        """Each document's id with its metadata, in no order."""
        fields = ["document_id", "version", "about"]
        for row in self._connection.each(documents_of(self.address.name), "number == 0", fields):
            yield row["document_id"], metadata_of(row) if row["version"] else {}

    def _heads(self) -> Iterator[tuple[str, str]]:
        for row in self._connection.each(documents_of(self.address.name), "number == 0", ["document_id", "version"]):
            yield row["document_id"], row["version"]

    def _all_cut(
        self, documents: Sequence[Document], *, spread: SpreadSplit | None = None
    ) -> Iterable[Sequence[Passage]]:
        if spread is None or self._splitter or self.record.split is None:
            return map(self._cut, documents)
        return spread(documents, self.record.split)

    def _cut(self, document: Document) -> Sequence[Passage]:
        if self._splitter:
            passages = self._splitter(document)
        elif self.record.split:
            passages = split(document, self.record.split)
        else:
            raise IndexUnusable(
                f"{self.address}: its passages were cut by a function of your own: open it with splitter="
            )
        for passage in passages:
            if passage.document_id != document.id or document.text[passage.start : passage.end] != passage.text:
                raise InvalidDocuments(f"document {document.id!r}: passage {passage.id} is not a piece of its text")
        return passages


def build(
    documents: Iterable[Document],
    address: str,
    *,
    embedder: Embedder | None = None,
    lexical: LexicalOptions | None = None,
    split: SplitOptions | None = None,
    splitter: Splitter | None = None,
    options: MilvusOptions | None = None,
    progress: Progress | None = None,
    spread: SpreadSplit | None = None,
) -> tuple[Collection, Changes]:
    """Update the collection with these documents, or make it. Documents not given stay as they are.

    Options are for a new collection; where one is there, `lexical` and `split` that differ from its own are refused.
    """
    place, chosen = Address.parse(address), options or MilvusOptions()
    connection = Connection(place, timeout_seconds=chosen.timeout_seconds, create=True)
    described = record.read(connection)
    if described is None:
        own = embedder or default_embedder()
        described = record.make(connection, own, lexical, None if splitter else split or SplitOptions(), chosen)
    else:
        own = embedder or load_embedder(described.embedder.name)
        record.check_embedder(connection, described, own)
        record.check_options(place, described, lexical, split)
    collection = Collection(connection, described, own, splitter=splitter, options=chosen)
    return collection, collection.add(documents, progress=progress, spread=spread)


def embedder_of(address: str) -> Embedder | None:
    """The one that a collection was made with; None where there is none yet."""
    place = Address.parse(address)
    if place.file and not place.file.exists():
        return None
    connection = Connection(place, timeout_seconds=MilvusOptions().timeout_seconds, create=False)
    described = record.read(connection)
    connection.close()
    return load_embedder(described.embedder.name) if described else None


def _sum(one: Changes, other: Changes) -> Changes:
    return Changes(
        added=one.added + other.added,
        updated=one.updated + other.updated,
        unchanged=one.unchanged + other.unchanged,
        embedded=one.embedded + other.embedded,
    )
