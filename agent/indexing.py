"""`remask index`, and reading documents for the other commands: what was read, what was not, and why."""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

from rich.text import Text

from ..retrieval import Changes, Document, Embedder, Index, bar, build, default_embedder, gone, load_embedder
from ..retrieval.batches import TEXTS_AT_ONCE
from ..retrieval.cluster import Cluster, connected
from ..retrieval.formats import READERS
from ..retrieval.load import Loading, load
from ..retrieval.milvus import Collection, MilvusOptions, embedder_of, is_address
from ..retrieval.milvus import build as build_there
from ..retrieval.store import is_index, read_manifest
from .console import CommandError, Exit, counted, output, printable, progress


def index(
    paths: Sequence[Path], place: Path | str, *, embedder: str | None, prune: bool = False, ray: str | None = None
) -> Exit:
    """Into a folder, or with an address of Milvus into a collection, to which documents go as they are read.

    For a folder everything is read before the index is opened: a mistyped path costs nothing and changes nothing.
    """
    begin = time.perf_counter()
    _check(paths)
    with connected(ray) if ray else nullcontext() as cluster:
        loading = load(paths, spread=cluster.read if cluster else None)
        built, changes = _built(loading, paths, place, embedder, cluster)
    _tell(loading)
    lost = missing(built, paths, loading) if prune or isinstance(built, Index) else []
    if prune and lost:
        built.delete(lost)
        if isinstance(built, Index):
            built.save()
    seconds = time.perf_counter() - begin
    output().print(summary(changes, passages=len(built), skipped=len(loading.skipped), seconds=seconds))
    if lost:
        output().print(forgotten(len(lost), pruned=prune))
    return Exit.SKIPPED if loading.skipped else Exit.DONE


def _built(
    loading: Loading, paths: Sequence[Path], place: Path | str, embedder: str | None, cluster: Cluster | None
) -> tuple[Index | Collection, Changes]:
    there = is_address(place)
    documents = _some(loading, paths) if there else _listed(loading, paths)
    chosen = load_embedder(embedder) if embedder else None
    if cluster:
        chosen = cluster.embedder(chosen or _embedder_of(place) or default_embedder())
    with bar("embedding") as report:
        spread = cluster.split if cluster else None
        if not there:
            return build(documents, place, embedder=chosen, progress=report, spread=spread)
        options = MilvusOptions(batch_passages=(2 * TEXTS_AT_ONCE * cluster.workers) if cluster else 256)
        return build_there(documents, str(place), embedder=chosen, options=options, progress=report, spread=spread)


def _embedder_of(place: Path | str) -> Embedder | None:
    """Of the index that is there already."""
    if is_address(place):
        return embedder_of(str(place))
    path = Path(place)
    return load_embedder(read_manifest(path).embedder.name) if is_index(path) else None


def read(paths: Sequence[Path]) -> tuple[list[Document], int]:
    """The documents of files and folders, and how many files had to be skipped. Each of those is named with its reason.

    Raises CommandError for a path that does not exist, and where there is nothing to read.
    """
    _check(paths)
    loading = load(paths)
    documents = _listed(loading, paths)
    _tell(loading)
    return documents, len(loading.skipped)


def missing(built: Index | Collection, paths: Sequence[Path], loading: Loading) -> list[str]:
    """The ids of documents from these paths whose file or row is no longer there."""
    unreadable = [note.path for note in loading.skipped]
    return list(gone(built.origins(), paths, read=loading.ids, unreadable=unreadable))


def summary(changes: Changes, *, passages: int, skipped: int, seconds: float) -> str:
    """Two lines: what there is now, and what this took.

    >>> print(summary(Changes(unchanged=2), passages=9, skipped=0, seconds=0.5))
    2 documents: 0 new, 0 changed, 2 as before; 0 files skipped
    9 passages in the index; nothing had to be embedded; 0.5 s
    """
    total = changes.added + changes.updated + changes.unchanged
    embedded = f"{changes.embedded:,} embedded now" if changes.embedded else "nothing had to be embedded"
    return (
        f"{counted(total, 'document')}: {changes.added:,} new, {changes.updated:,} changed,"
        f" {changes.unchanged:,} as before; {counted(skipped, 'file')} skipped\n"
        f"{counted(passages, 'passage')} in the index; {embedded}; {seconds:.1f} s"
    )


def forgotten(count: int, *, pruned: bool) -> str:
    """
    >>> forgotten(1, pruned=True)
    '1 document whose file is gone was forgotten'
    >>> forgotten(2, pruned=False)
    '2 documents whose files are gone are still in the index; --prune forgets them'
    """
    files, was, are, them = ("file is", "was", "is", "it") if count == 1 else ("files are", "were", "are", "them")
    what = f"{counted(count, 'document')} whose {files} gone"
    return f"{what} {was} forgotten" if pruned else f"{what} {are} still in the index; --prune forgets {them}"


def _check(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise CommandError(f"{str(path)!r} does not exist. Check the path.")


def _listed(loading: Loading, paths: Sequence[Path]) -> list[Document]:
    with progress().status("reading the documents"):
        return list(_some(loading, paths))


def _some(loading: Loading, paths: Sequence[Path]) -> Iterator[Document]:
    """Taken one at a time. Raises CommandError before the first where there is none."""
    first = next(loading, None)
    if first is None:
        _tell(loading)
        where = ", ".join(repr(str(path)) for path in paths)
        raise CommandError(
            f"nothing to read in {where}. Give files of these kinds, or folders of them: {' '.join(READERS)}"
        )
    return chain([first], loading)


def _tell(loading: Loading) -> None:
    for note in (*loading.skipped, *loading.warnings):
        line = Text.assemble((f"{note.kind}: ", "yellow"), " ".join(printable(str(note)).split()))
        progress().print(line, soft_wrap=True)
