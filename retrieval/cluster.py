"""Work spread over a Ray cluster: files read, documents split, texts embedded, in the order that one process has.

Every machine must see the files under the same paths, and have this package installed. A worker that dies is replaced
and its piece of work done again. The one module that imports ray; needs `remask[ray]`.
"""

import gc
import os
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from .batches import batched, in_blocks
from .document import Document, Passage
from .embed import Embedder, load_embedder
from .errors import ClusterUnavailable, EmbedderUnavailable
from .load import read_file
from .postings import Floats
from .progress import Progress
from .source import Found, Source
from .split import SplitOptions, split

Item = TypeVar("Item")
Result = TypeVar("Result")

INSTALL = "pip install 'remask[ray]'"
RETRIES = 5
"""How often a piece of work is begun again after the worker that had it died."""

FILES_AT_ONCE, DOCUMENTS_AT_ONCE = 16, 64


class Cluster:
    """Made by `connected`. Holds no more results than its workers are ahead, so that memory stays bounded."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        """How many pieces of work are done at a time."""

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`work` of every item, in their order. `work` is a function of an importable module.

        What `work` raises is raised here; ClusterUnavailable where its worker died too often or the cluster is full.
        """
        task = self._ray.remote(work).options(max_retries=RETRIES)
        pending: deque[Any] = deque()
        for item in items:
            pending.append(task.remote(item))
            if len(pending) >= 2 * self.workers:
                yield self._result(pending.popleft())
        while pending:
            yield self._result(pending.popleft())

    def read(self, sources: Iterable[Source]) -> Iterator[Iterable[Found]]:
        """For `load`: what each file yields."""
        return chain.from_iterable(self.each(_read, batched(sources, FILES_AT_ONCE)))

    def split(self, documents: Iterable[Document], options: SplitOptions) -> Iterator[Sequence[Passage]]:
        """For `Index.add`: the passages of each document."""
        pieces = ((options, batch) for batch in batched(documents, DOCUMENTS_AT_ONCE))
        return chain.from_iterable(self.each(_split, pieces))

    def embedder(self, embedder: Embedder) -> "ClusterEmbedder":
        return ClusterEmbedder(self, embedder)

    def _result(self, reference: Any) -> Any:
        failures = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except failures.RayTaskError:
            raise  # of the class that the work raised
        except failures.RayError as error:
            reason = " ".join(str(error).split())[:300]
            raise ClusterUnavailable(
                f"the Ray cluster gave up a piece of work after {RETRIES} tries: {reason}. Nothing was stored of it:"
                " run the same command again, on a cluster with room"
            ) from error


class ClusterEmbedder:
    """An `Embedder` whose passages are embedded on the cluster, by the model of that name, in the batches that one process
    would make: batches show in the last bits of a vector."""

    def __init__(self, cluster: Cluster, embedder: Embedder) -> None:
        self._cluster = cluster
        self._embedder = embedder
        self.name, self.fingerprint = embedder.name, embedder.fingerprint

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        if not texts:
            return self._embedder.embed_passages(texts)
        blocks, order = in_blocks(texts)
        total, done = sum(map(len, blocks)), 0
        rows: list[Floats] = []
        for made in self._cluster.each(_embed, ((self.name, self.fingerprint, block) for block in blocks)):
            rows.append(made)
            done += len(made)
            if progress:
                progress(done, total)
        return np.concatenate(rows)[order].astype(np.float32, copy=False)

    def embed_query(self, text: str) -> Floats:
        return self._embedder.embed_query(text)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """A cluster: its address as HOST:PORT, "ray://HOST:PORT", "auto" for the one that this machine belongs to, or "local"
    or "local:2" for one of this machine's processors that lasts as long as the work. Raises ClusterUnavailable."""
    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        _check_reachable(address)
        _start(ray, address)
    try:
        yield Cluster(ray)
    finally:
        if mine:
            with warnings.catch_warnings():
                # It forgets the processes that it started before they have ended, of which Python would warn later.
                warnings.simplefilter("ignore", ResourceWarning)
                ray.shutdown()
                gc.collect()


def _start(ray: Any, address: str) -> None:
    kind, _, count = address.partition(":")
    quiet = {"log_to_driver": False, "configure_logging": False, "include_dashboard": False}
    if kind == "local" and (count.isdecimal() or not count):
        where: dict[str, Any] = {"num_cpus": int(count) if count else None, **quiet}
    else:
        where = {"address": address, "log_to_driver": False, "configure_logging": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own, of no concern to a user
            ray.init(**where)
    except Exception as error:  # a start that takes too long is a bare Exception
        ray.shutdown()
        reason = " ".join(str(error).split())
        raise ClusterUnavailable(f"{address!r}: no Ray cluster answers there: {reason}. {_START}") from error


_START = "Start one with: ray start --head; or use 'local' for this machine alone"


def _check_reachable(address: str) -> None:
    """Ray itself would wait a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address in ("auto", "local") or host == "local":
        return
    if not host or not port.isdecimal():
        raise ClusterUnavailable(f"{address!r} is no address of a Ray cluster. Write HOST:PORT, auto, or local")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise ClusterUnavailable(f"{address!r}: no Ray cluster answers there: {error}. {_START}") from error


def _read(sources: Sequence[Source]) -> list[list[Found]]:
    return [list(read_file(source)) for source in sources]


def _split(piece: tuple[SplitOptions, Sequence[Document]]) -> list[list[Passage]]:
    options, documents = piece
    return [split(document, options) for document in documents]


def _embed(piece: tuple[str, str, Sequence[str]]) -> Floats:
    name, fingerprint, texts = piece
    return _embedder(name, fingerprint).embed_passages(texts)


@cache
def _embedder(name: str, fingerprint: str) -> Embedder:
    """Loaded once in a worker."""
    found = load_embedder(name)
    if found.fingerprint != fingerprint:
        raise EmbedderUnavailable(
            f"{name!r} on this worker is another model than where the work began. Install the same"
        )
    return found


@cache
def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
    except ImportError as error:
        raise ClusterUnavailable(f"spreading work needs ray. Install it with: {INSTALL}") from error
    return ray
