"""The same passages and questions in a folder's index and in Milvus, in turn: `python -m remask.retrieval.milvus.bench`.

Files in the layout of the HotpotQA ones, as for `remask.retrieval.bench`. Vectors are computed once and serve both.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..bench import _cell, _documents, _found, _in_turn, _milliseconds, _Remembering, _rows, _seconds
from ..document import Document, Passage
from ..embed import load_embedder
from ..hybrid import FusionOptions, Mode
from ..index import Index, build
from ..postings import Floats
from ..progress import Progress, bar
from ..update import indexed_text
from .collection import Collection
from .collection import build as build_there
from .options import MilvusOptions

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", help=__doc__)
RECALL_AT = (2, 5, 10)


@app.command()
def compare(
    corpus: Annotated[Path, typer.Option(help="Paragraphs, JSON lines, may be gzip", exists=True)],
    questions: Annotated[Path, typer.Option(help="Questions, JSON lines, may be gzip", exists=True)],
    store: Annotated[
        str | None, typer.Option(help="milvus:URI#NAME. [default: a file of Milvus Lite, removed]")
    ] = None,
    index: Annotated[Path | None, typer.Option("--index", help="Keep the local index here and use it again")] = None,
    embedder: Annotated[str, typer.Option(help="A model's name or folder")] = "all-MiniLM-L6-v2",
    limit: Annotated[int | None, typer.Option(help="Only the first so many paragraphs")] = None,
    n: Annotated[int, typer.Option(help="Questions that are timed")] = 100,
    k: int = 10,
) -> None:
    """Recall of the gold titles and time of a search, each question through both before the next."""
    documents, cut = _documents(corpus)
    documents = documents[:limit]
    there = {document.title for document in documents}
    rows = [row for row in _rows(questions) if {title for title, _ in row["supporting_facts"] or ()} & there]
    if not rows:
        raise typer.BadParameter("no question has a gold paragraph among those. Raise --limit")
    with tempfile.TemporaryDirectory() as scratch:
        local = _local(documents, cut, index or Path(scratch) / "index", embedder)
        address = store or f"milvus:{scratch}/bench.db#bench"
        sent = _seconds(lambda: _sent(documents, cut, address, local))
        typer.echo(f"{len(local):,} passages, {len(rows)} questions, {local.embedder.name}, k = {k}, {address}")
        typer.echo(f"sent to Milvus in {sent:.1f} s, vectors not counted")
        typer.echo("mean recall with bootstrap 95% interval / share of questions with all gold paragraphs, in percent")
        typer.echo(f"{'':32s}" + "".join(f"{f'@{top}':>26s}" for top in RECALL_AT))
        for name, retriever, mode in _settings(local, address):
            found = np.array([_found(retriever, row, mode) for row in rows])
            typer.echo(f"{name:32s}" + "".join(_cell(found[:, place]) for place in range(len(RECALL_AT))))
        typer.echo(f"time of a search, the question's vector known, n = {min(n, len(rows))}")
        asked = [str(row["question"]) for row in rows[:n]]
        for name, retriever, mode in _settings(local, address):
            if isinstance(retriever, Collection):
                ours, theirs = _in_turn(asked, _search(local, k, mode), _search(retriever, k, mode))
                typer.echo(f"{name:32s}{_milliseconds(theirs)}; local in the same turns {_milliseconds(ours)}")


def _settings(local: Index, address: str) -> Iterator[tuple[str, Any, Mode]]:
    modes: tuple[Mode, ...] = ("lexical", "dense", "hybrid")
    for mode in modes:
        yield f"local, {mode}", local, mode
    usual = Collection.open(address, embedder=local.embedder)
    for mode in modes:
        yield f"milvus, {mode}", usual, mode
    for method in ("weighted", "rrf"):
        fusion = FusionOptions(method=method)
        options = MilvusOptions(fusion=fusion, fuse="milvus")
        yield f"milvus, its own {method}", Collection.open(address, embedder=local.embedder, options=options), "hybrid"


def _search(retriever: Any, k: int, mode: Mode) -> Callable[[str], object]:
    return lambda question: retriever.search(question, k, mode=mode)


def _local(documents: Sequence[Document], cut: Any, folder: Path, embedder: str) -> Index:
    remembering = _Remembering(load_embedder(embedder))
    with bar("Embedding") as progress:
        made, _ = build(documents, folder, embedder=remembering, splitter=cut, progress=progress)
    return made


def _sent(
    documents: Sequence[Document], cut: Callable[[Document], Sequence[Passage]], address: str, local: Index
) -> None:
    build_there(documents, address, embedder=_Known(local), splitter=cut)


class _Known:
    """The vectors that the local index has, by text."""

    def __init__(self, local: Index) -> None:
        self.name, self.fingerprint = local.embedder.name, local.embedder.fingerprint
        self._local = local
        self._row = {indexed_text(passage): row for row, passage in enumerate(local.passages)}

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        vectors = self._local._state.retriever.dense.vectors_ND
        return np.array(vectors[[self._row[text] for text in texts]])

    def embed_query(self, text: str) -> Floats:
        return self._local.embedder.embed_query(text)


if __name__ == "__main__":
    app()
