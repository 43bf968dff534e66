"""Talks to Milvus, and says its refusals in our words. The one module that imports pymilvus; knows no passage."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar

from ..batches import batched
from ..errors import IndexUnusable, StoreFull, StoreUnavailable
from .address import TOKEN, Address

Row = dict[str, Any]
Result = TypeVar("Result")
INSTALL = "pip install 'remask[milvus]'"

# The codes of Milvus's server, pkg/util/merr/errors.go.
_FULL = {3: "its memory is full", 7: "its disk is full", 9: "its quota is used up", 12: "it lacks resources"}
_BUSY = {1, 2, 4, 8, 106, 503, 901, 902, 905, 1807}
_GRPC_OPTIONS = {
    "grpc.use_local_subchannel_pool": 1,  # else a new client inherits the waiting time of one whose server was down
    "grpc.max_reconnect_backoff_ms": 1000,
}
_FORBIDDEN = {1400, 1401, 1800}


class Connection:
    """One client of one database. Every call raises StoreUnavailable, StoreFull or IndexUnusable where Milvus refuses."""

    def __init__(self, address: Address, *, timeout_seconds: float, create: bool) -> None:
        """Makes a file of Milvus Lite only where `create` allows it."""
        self.address = address
        self._timeout = timeout_seconds
        file = address.file
        if file and not create and not file.exists():
            raise IndexUnusable(
                f"{address}: there is no such file. Make it with: remask index DOCUMENTS --store {address}"
            )
        if file and file.is_file():
            raise IndexUnusable(f"{file}: is no database of this Milvus Lite, which is a folder. Choose another name")
        if file and not file.absolute().parent.is_dir():
            raise IndexUnusable(f"{file}: the folder {str(file.parent)!r} does not exist. Make it, or choose another")
        client = pymilvus().MilvusClient
        self._client = self._told(
            lambda: client(
                address.uri, token=address.token, timeout=timeout_seconds, dedicated=True, grpc_options=_GRPC_OPTIONS
            )
        )

    def close(self) -> None:
        self._client.close()

    def has(self, collection: str) -> bool:
        return bool(self._told(lambda: self._client.has_collection(collection, timeout=self._timeout)))

    def create(self, collection: str, schema: Any, indexes: Any, *, consistency: str) -> None:
        """Ready to be asked. Waits for all indexes at once, not for each."""

        def make() -> None:
            self._client.create_collection(
                collection, schema=schema, consistency_level=consistency, timeout=self._timeout
            )
            self._client.create_index(collection, indexes, timeout=self._timeout, sync=False)
            self._client.load_collection(collection, timeout=self._timeout)

        self._told(make)

    def drop(self, collection: str) -> None:
        self._told(lambda: self._client.drop_collection(collection, timeout=self._timeout))

    def load(self, collection: str) -> None:
        self._told(lambda: self._client.load_collection(collection, timeout=self._timeout))

    def fields(self, collection: str) -> dict[str, Mapping[str, Any]]:
        """By name, each with its parameters, such as `dim`."""
        described = self._told(lambda: self._client.describe_collection(collection, timeout=self._timeout))
        return {field["name"]: field["params"] for field in described["fields"]}

    def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        if rows:
            self._told(lambda: self._client.upsert(collection, list(rows), timeout=self._timeout))

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        for part in batched(ids, 1000):
            self._told(partial(self._client.delete, collection, ids=part, timeout=self._timeout))

    def flush(self, collection: str) -> None:
        self._told(lambda: self._client.flush(collection, timeout=self._timeout))

    def get(self, collection: str, ids: Sequence[str], fields: Sequence[str]) -> list[Row]:
        if not ids:
            return []
        return list(
            self._told(
                lambda: self._client.get(collection, ids=list(ids), output_fields=list(fields), timeout=self._timeout)
            )
        )

    def count(self, collection: str, expression: str = "") -> int:
        found = self._told(
            lambda: self._client.query(collection, filter=expression, output_fields=["count(*)"], timeout=self._timeout)
        )
        return int(found[0]["count(*)"])

    def each(self, collection: str, expression: str, fields: Sequence[str], *, batch: int = 1000) -> Iterator[Row]:
        """All rows that match, without holding them all."""
        pages = self._told(
            lambda: self._client.query_iterator(
                collection, filter=expression, output_fields=list(fields), batch_size=batch, timeout=self._timeout
            )
        )
        try:
            while rows := self._told(pages.next):
                yield from rows
        finally:
            pages.close()

    def search(
        self, collection: str, field: str, data: Any, k: int, expression: str, fields: Sequence[str]
    ) -> list[Row]:
        """`{"id", "distance", "entity": {...}}`, best first."""
        return list(
            self._told(
                lambda: self._client.search(
                    collection,
                    data=[data],
                    anns_field=field,
                    limit=k,
                    filter=expression,
                    output_fields=list(fields),
                    timeout=self._timeout,
                )
            )[0]
        )

    def hybrid_search(
        self, collection: str, asked: Mapping[str, Any], ranker: Any, depth: int, expression: str
    ) -> list[Row]:
        """One ranking out of a search for each field."""
        request = pymilvus().AnnSearchRequest
        requests = [request([data], field, {}, depth, expr=expression) for field, data in asked.items()]
        return list(
            self._told(
                lambda: self._client.hybrid_search(
                    collection, requests, ranker, limit=depth, output_fields=["id"], timeout=self._timeout
                )
            )[0]
        )

    def _told(self, work: Callable[[], Result]) -> Result:
        known = pymilvus().MilvusException
        grpc_error = pymilvus().grpc_error
        try:
            return work()
        except known as error:
            raise self._ours(error.code, " ".join(str(error.message).split())) from error
        except grpc_error as error:
            raise self._ours(2, " ".join(str(error).split())) from error

    def _ours(self, code: int, message: str) -> Exception:
        where = self.address.uri
        if code in _FULL:
            return StoreFull(
                f"{where}: Milvus takes no more: {_FULL[code]} ({message}). Make room, then run the same command"
                " again: it goes on where this one stopped"
            )
        if code in _FORBIDDEN or "auth" in message.lower():
            return StoreUnavailable(f"{where}: Milvus wants a login ({message}). Put its token into {TOKEN}")
        if code == 100:
            return IndexUnusable(
                f"{self.address}: {message}. Make it with: remask index DOCUMENTS --store {self.address}"
            )
        if code in _BUSY or "deadline" in message.lower() or "unavailable" in message.lower():
            return StoreUnavailable(
                f"{where}: can't reach Milvus there ({message}). Start it or mend the address, then run the same"
                " command again"
            )
        return StoreUnavailable(f"{where}: Milvus refused (code {code}): {message}")


class _Pymilvus:
    """pymilvus with the one further class that its calls raise."""

    def __init__(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                import grpc
                import pymilvus
        except ImportError as error:
            raise StoreUnavailable(f"a store in Milvus needs pymilvus. Install it with: {INSTALL}") from error
        # It prints a traceback of its own for every refusal, which is told to the caller anyway.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        self.module: Any = pymilvus
        self.grpc_error: type[Exception] = grpc.RpcError

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


@cache
def pymilvus() -> _Pymilvus:
    return _Pymilvus()
