"""How well retrieval finds and how long it takes, beside the libraries it is made of: `python -m remask.retrieval.bench`.

Every ratio compares two things done in turn in one run on one machine. Texts are given as files, in the layout of the
HotpotQA ones: `{"id", "title", "sents"}` a line, and questions with `"supporting_facts": [[title, sentence], ...]`.
"""

import gzip
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Annotated, Any

import numpy as np
import typer

from .dense import DenseIndex
from .document import Document, Passage
from .embed import Embedder, default_embedder
from .hybrid import FusionOptions, HybridRetriever, Mode
from .index import Index, build
from .lexical import LexicalIndex, LexicalOptions
from .postings import Floats
from .progress import Progress, bar
from .split import passage_from_sentences
from .update import indexed_text
from .words import ENGLISH_STOP_WORDS, WordOptions

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", no_args_is_help=True, help=__doc__)
Corpus = Annotated[Path, typer.Option(help="Paragraphs, JSON lines, may be gzip", exists=True)]
Questions = Annotated[Path, typer.Option(help="Questions, JSON lines, may be gzip", exists=True)]
IndexFolder = Annotated[Path | None, typer.Option("--index", help="Keep the index here and use it again")]

RECALL_AT = (2, 5, 10)
RESAMPLES = 10_000
SEED = 0

Times = tuple[float, float]
"""Seconds of the clock, and of the processor in all threads."""


@app.command()
def recall(corpus: Corpus, questions: Questions, index: IndexFolder = None) -> None:
    """How many of a question's gold paragraphs are found, and for how many questions all of them, by every setting."""
    retriever = _indexed(corpus, index)
    asked = [row for row in _rows(questions) if row["supporting_facts"]]
    typer.echo(f"n = {len(asked)} questions, {len(retriever)} passages, {retriever.embedder.name}, seed {SEED}")
    typer.echo("mean recall with bootstrap 95% interval / share of questions with all gold paragraphs, in percent")
    typer.echo(f"{'':36s}" + "".join(f"{f'@{k}':>26s}" for k in RECALL_AT))
    for name, lexical, mode, fusion in _settings():
        words = LexicalIndex.build([indexed_text(passage) for passage in retriever.passages], lexical)
        tried = HybridRetriever(retriever.passages, words, retriever.dense, retriever.embedder, fusion=fusion)
        found = np.array([_found(tried, row, mode) for row in asked])
        typer.echo(f"{name:36s}" + "".join(_cell(found[:, i]) for i in range(len(RECALL_AT))))


@app.command()
def search(corpus: Corpus, questions: Questions, index: IndexFolder = None, n: int = 200, k: int = 10) -> None:
    """One question through the whole hybrid search, and through the model, bm25s and FAISS alone, in turn."""
    import bm25s  # type: ignore[import-untyped]
    import faiss

    retriever = _indexed(corpus, index, remember=False)
    embedder = default_embedder()
    texts = [indexed_text(passage) for passage in retriever.passages]
    engine = bm25s.BM25(k1=1.2, b=0.75)
    engine.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    flat = faiss.IndexFlatIP(retriever.dense.vectors_ND.shape[1])
    flat.add(np.array(retriever.dense.vectors_ND))

    def alone(question: str) -> None:
        vector = embedder._model.encode([question], normalize_embeddings=True, show_progress_bar=False)
        engine.retrieve(bm25s.tokenize(question, show_progress=False), k=k, show_progress=False)
        flat.search(vector, k)

    rows = _rows(questions)[:n]
    ours, theirs = _in_turn([str(row["question"]) for row in rows], lambda q: retriever.search(q, k), alone)
    typer.echo(f"n = {len(rows)} questions, {len(retriever)} passages, k = {k}")
    typer.echo(f"hybrid search       {_milliseconds(ours)}")
    typer.echo(f"the parts alone     {_milliseconds(theirs)}")
    wall, cpu = np.median(ours, axis=0) / np.median(theirs, axis=0)
    typer.echo(f"ratio of medians    clock {wall:.3f}, processor {cpu:.3f}")


@app.command(name="index")
def index_(corpus: Corpus, n: int = 2000, rounds: int = 2) -> None:
    """Indexing into a folder, and SentenceTransformer.encode of the same texts, in turn. `--n 0` takes all of them."""
    documents, cut = _documents(corpus)
    documents = documents[:: max(len(documents) // n, 1)][:n] if n else documents
    texts = [indexed_text(cut(document)[0]) for document in documents]
    embedder = default_embedder()
    embedder.embed_query("warm")
    ours, theirs, peak_mib, again = [], [], 0.0, (0.0, 0.0)
    for number in range(rounds):
        encode = partial(embedder._model.encode, texts, batch_size=32, show_progress_bar=False)
        theirs += [_wall_and_cpu(encode)] if number % 2 else []
        with tempfile.TemporaryDirectory() as folder:
            update = partial(build, documents, Path(folder) / "index", embedder=embedder, splitter=cut)
            ours.append(_wall_and_cpu(update))
            peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            again = _wall_and_cpu(update)
            _, changes = update()
        theirs += [] if number % 2 else [_wall_and_cpu(encode)]
    typer.echo(
        f"n = {len(texts)} texts, {rounds} rounds in alternating order; seconds of the clock and of the processor"
    )
    typer.echo(f"indexing            {_rounds(ours)}")
    typer.echo(f"encode alone        {_rounds(theirs)}")
    wall, cpu = (min(one) / min(other) for one, other in zip(zip(*ours), zip(*theirs), strict=True))  # noqa: B905
    typer.echo(f"ratio of the best   clock {wall:.3f}, processor {cpu:.3f}")
    typer.echo(f"peak memory         {peak_mib:.0f} MiB, the model included")
    typer.echo(f"indexing unchanged  {again[0]:.2f} s, passages embedded: {changes.embedded}")


@app.command()
def graph(index: Path, questions: Questions, k: int = 10, n: int = 200) -> None:
    """What the HNSW graph loses and gains against exact search, over the vectors of an index."""
    opened = Index.open(index)
    vectors = np.array(opened._state.retriever.dense.vectors_ND)
    queries = [opened.embedder.embed_query(row["question"]) for row in _rows(questions)[:n]]
    for size in (size for size in (10_000, 20_000, 50_000, 100_000, len(vectors)) if size <= len(vectors)):
        exact, approximate = DenseIndex(vectors[:size], exact_up_to=size), DenseIndex(vectors[:size], exact_up_to=0)
        exact.search(queries[0], k)
        built = _seconds(lambda: approximate.graph)  # noqa: B023
        slow, fast = _in_turn(queries, lambda q: exact.search(q, k), lambda q: approximate.search(q, k))  # noqa: B023
        shared = [{p for p, _ in exact.search(q, k)} & {p for p, _ in approximate.search(q, k)} for q in queries]
        kept = sum(map(len, shared)) / (k * len(queries))
        typer.echo(
            f"{size:8d} vectors: exact {_milliseconds(slow)}; graph {_milliseconds(fast)}, built in {built:.1f} s;"
            f" recall@{k} against exact {kept:.3f} (n = {len(queries)})"
        )


class _Remembering:
    """Embeds each question once, however many settings are tried."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Floats] = {}
        self.name, self.fingerprint = embedder.name, embedder.fingerprint

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        return self._embedder.embed_passages(texts, progress=progress)

    def embed_query(self, text: str) -> Floats:
        if text not in self._vectors:
            self._vectors[text] = self._embedder.embed_query(text)
        return self._vectors[text]


def _settings() -> Iterator[tuple[str, LexicalOptions, Mode, FusionOptions]]:
    whole, usual = WordOptions(stem=""), LexicalOptions()
    stopped = WordOptions(stop_words=ENGLISH_STOP_WORDS)
    plain = FusionOptions()
    yield "lexical, k1 0.9, b 0.4, no stemming", LexicalOptions(k1=0.9, b=0.4, words=whole), "lexical", plain
    yield "lexical, k1 1.2, b 0.75, no stemming", LexicalOptions(words=whole), "lexical", plain
    yield "lexical, k1 0.9, b 0.4", LexicalOptions(k1=0.9, b=0.4), "lexical", plain
    yield "lexical, k1 1.2, b 0.75", usual, "lexical", plain
    yield "lexical, stop words", LexicalOptions(words=stopped), "lexical", plain
    yield "dense", usual, "dense", plain
    for k in (60, 10):
        yield f"RRF, k = {k}", usual, "hybrid", FusionOptions(method="rrf", rrf_k=k)
    for weight in (0.3, 0.5, 0.6, 0.7, 0.8):
        yield f"weighted, dense {weight}", usual, "hybrid", FusionOptions(dense_weight=weight)
    yield "weighted, dense 0.7, no stemming", LexicalOptions(words=whole), "hybrid", FusionOptions(dense_weight=0.7)


def _found(retriever: HybridRetriever, row: dict[str, Any], mode: Mode) -> list[float]:
    """The share of the gold titles among the first 2, 5 and 10."""
    gold = {title for title, _ in row["supporting_facts"]}
    titles = [hit.passage.title for hit in retriever.search(row["question"], max(RECALL_AT), mode=mode)]
    return [len(gold & set(titles[:k])) / len(gold) for k in RECALL_AT]


def _cell(shares: Floats) -> str:
    drawn = np.random.default_rng(SEED).integers(0, len(shares), (RESAMPLES, len(shares)))
    low, high = np.percentile(shares[drawn].mean(axis=1), (2.5, 97.5))
    return f"{100 * shares.mean():12.1f} [{100 * low:.1f}, {100 * high:.1f}] / {100 * (shares == 1).mean():4.1f}"[-26:]


def _indexed(corpus: Path, folder: Path | None, *, remember: bool = True) -> HybridRetriever:
    documents, cut = _documents(corpus)
    embedder: Embedder = _Remembering(default_embedder()) if remember else default_embedder()
    with bar("Embedding") as progress:
        if folder is None:
            made = Index.create(documents, embedder=embedder, splitter=cut, progress=progress)
        else:
            made, _ = build(documents, folder, embedder=embedder, splitter=cut, progress=progress)
    return made._state.retriever


def _documents(path: Path) -> tuple[list[Document], Callable[[Document], list[Passage]]]:
    """Each paragraph a document of one passage."""
    rows = {str(row["id"]): row for row in _rows(path)}
    documents = [Document(id=key, title=row["title"], text="".join(row["sents"])) for key, row in rows.items()]
    return documents, lambda document: [passage_from_sentences(document.id, document.title, rows[document.id]["sents"])]


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _in_turn(
    items: Sequence[Any], ours: Callable[[Any], object], theirs: Callable[[Any], object]
) -> tuple[list[Times], list[Times]]:
    """Times of each, an item through both before the next, the order alternating."""
    times: tuple[list[Times], list[Times]] = ([], [])
    ours(items[0])
    theirs(items[0])
    for number, item in enumerate(items):
        for which in (0, 1) if number % 2 else (1, 0):
            times[which].append(_wall_and_cpu(partial((ours, theirs)[which], item)))
    return times


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _wall_and_cpu(work: Callable[[], object]) -> Times:
    """On a machine that others use, too, only the second can be compared, and that with one thread."""
    cpu = time.process_time()
    wall = _seconds(work)
    return wall, time.process_time() - cpu


def _rounds(times: Sequence[Times]) -> str:
    return ", ".join(f"{wall:.2f} ({cpu:.2f})" for wall, cpu in times)


def _milliseconds(times: Sequence[Times]) -> str:
    wall, cpu = ([1000 * seconds for seconds in one] for one in zip(*times, strict=True))
    return f"p50 {np.median(wall):.2f} ms, p95 {quantiles(wall, n=20)[-1]:.2f} ms (processor {np.median(cpu):.2f} ms)"


if __name__ == "__main__":
    app()
