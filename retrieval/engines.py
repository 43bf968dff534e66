"""Every way to search, built at a size, asked, and measured in the process that it is called in. Knows no command line."""

import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .contents import writers
from .costs import Cost
from .dense import EXACT_UP_TO, DenseIndex, faiss_library, read_graph
from .document import Document, Passage
from .index import Index
from .lexical import LexicalIndex, LexicalOptions
from .manifest import EmbedderRecord, Manifest
from .postings import Floats, Postings
from .progress import Progress
from .quantised import QuantisedIndex
from .store import write, writing
from .synthetic import TextModel, unit_vectors

ENGINES = ("lexical", "flat", "sq8", "ivf-sq8", "hnsw", "hybrid")
LEFT_BY = {"sq8": ("flat",), "ivf-sq8": ("flat",), "hnsw": ("flat",), "hybrid": ("lexical", "hnsw")}
"""Whose leavings an engine uses: exact answers for its recall, words and a graph to keep."""
K = 10
_TEXTS, _VOCABULARY, _GRAPH, _VECTORS, _TRUTH = "texts.txt", "words.txt", "graph.faiss", "vectors.npy", "truth.npy"
_POSTINGS = ("offsets.npy", "passages.npy", "counts.npy", "lengths.npy")


@dataclass(frozen=True, slots=True)
class Task:
    """`work` is a folder where one engine leaves what another can use: vectors, exact answers, a graph, word counts."""

    engine: str
    size: int
    work: Path
    model: TextModel
    dimension: int
    queries: int
    threads: int
    seed: int


def prepare(task: Task) -> None:
    """Makes texts and vectors, which is no part of what an engine costs."""
    vectors = np.lib.format.open_memmap(task.work / _VECTORS, "w+", np.float32, (task.size, task.dimension))
    row = 0
    for chunk in unit_vectors(task.size, task.dimension, seed=task.seed):
        vectors[row : row + len(chunk)] = chunk
        row += len(chunk)
    vectors.flush()
    with (task.work / _TEXTS).open("w", encoding="utf-8") as file:
        for texts in task.model.texts(task.size, seed=task.seed):
            file.writelines(f"{text}\n" for text in texts)


def measured(task: Task) -> Cost:
    """In a fresh process, after `prepare`: builds, saves what later engines need, asks, and tells what it took."""
    faiss_library().omp_set_num_threads(task.threads)
    begin = time.perf_counter()
    ask, files = _BUILDERS[task.engine](task)
    build_seconds = time.perf_counter() - begin
    opened = ask.opened_seconds if isinstance(ask, _Hybrid) else None
    ask(0)
    times, found = [], []
    for number in range(task.queries):
        begin = time.perf_counter()
        found.append(ask(number))
        times.append(1000 * (time.perf_counter() - begin))
    return Cost(
        engine=task.engine,
        passages=task.size,
        build_seconds=build_seconds,
        peak_mib=_peak_mib(),
        disk_mib=sum(path.stat().st_size for path in files) / 2**20,
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
        recall=_recall(task, found),
        open_seconds=opened,
    )


Ask = Callable[[int], list[int]]
"""The positions found for the question of this number."""
Built = tuple[Ask, Sequence[Path]]


def _lexical(task: Task) -> Built:
    index = LexicalIndex.build(_texts(task))
    postings = index.postings
    arrays: tuple[Any, ...] = (postings.offsets_V1, postings.passages_P, postings.counts_P, postings.lengths_N)
    for name, array in zip(_POSTINGS, arrays, strict=True):
        np.save(task.work / name, array)
    (task.work / _VOCABULARY).write_text("\n".join(postings.vocabulary), encoding="utf-8")
    questions = task.model.queries(task.queries, seed=task.seed)
    files = [task.work / name for name in (*_POSTINGS, _VOCABULARY)]
    return (lambda number: [position for position, _ in index.search(questions[number], K)]), files


def _flat(task: Task) -> Built:
    index = DenseIndex(_vectors(task), exact_up_to=task.size)
    asked = _questions(task)
    truth = np.array([[position for position, _ in index.search(one, K)] for one in asked])
    np.save(task.work / _TRUTH, truth)
    return (lambda number: [position for position, _ in index.search(asked[number], K)]), [task.work / _VECTORS]


def _hnsw(task: Task) -> Built:
    index = DenseIndex(_vectors(task), exact_up_to=0)
    index.write_graph(task.work / _GRAPH)
    asked = _questions(task)
    return (lambda number: [position for position, _ in index.search(asked[number], K)]), [task.work / _GRAPH]


def _quantised(task: Task) -> Built:
    index = QuantisedIndex(_vectors(task), task.engine)  # type: ignore[arg-type]
    asked = _questions(task)
    file = task.work / f"{task.engine}.faiss"
    index.write(file)
    return (lambda number: [position for position, _ in index.search(asked[number], K)]), [file]


class _Hybrid:
    """The whole index, written to a folder and opened again."""

    def __init__(self, task: Task) -> None:
        self._questions = task.model.queries(task.queries, seed=task.seed)
        embedder = _Given(self._questions, _questions(task))
        folder = task.work / "index"
        _write_index(task, folder, embedder)
        begin = time.perf_counter()
        self._index = Index.open(folder, embedder=embedder)
        self._index.search(self._questions[0], K)
        self.opened_seconds = time.perf_counter() - begin
        """Every hash checked, and the first question answered."""

    def __call__(self, number: int) -> list[int]:
        return [int(hit.passage.document_id) for hit in self._index.search(self._questions[number], K)]


class _Given:
    """Questions with the vectors they are given."""

    name, fingerprint = "synthetic", "synthetic"

    def __init__(self, questions: Sequence[str], vectors: Floats) -> None:
        self._vectors = dict(zip(questions, vectors, strict=True))

    def embed_query(self, text: str) -> Floats:
        vector: Floats = self._vectors[text]
        return vector

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        raise NotImplementedError("the vectors of passages are drawn, not embedded")


def _hybrid(task: Task) -> Built:
    ask = _Hybrid(task)
    return ask, [path for path in (task.work / "index").rglob("*") if path.is_file()]


def _write_index(task: Task, folder: Path, embedder: _Given) -> None:
    """As `Index.save` writes it, from what the other engines left, or made now."""
    documents = {str(number): Document(id=str(number), text=text) for number, text in enumerate(_texts(task))}
    passages = [Passage(key, one.text, 0, len(one.text)) for key, one in documents.items()]
    vectors, graph = _vectors(task), task.work / _GRAPH
    ready = read_graph(graph) if graph.exists() and task.size > EXACT_UP_TO else None
    dense, lexical = DenseIndex(vectors, graph=ready), _saved_lexical(task) or LexicalIndex.build(_texts(task))
    record = EmbedderRecord(name=embedder.name, fingerprint=embedder.fingerprint, dimension=task.dimension)

    def manifest(generation: str) -> Manifest:
        return Manifest(
            generation=generation,
            embedder=record,
            lexical=lexical.options,
            split=None,
            documents=len(documents),
            passages=len(passages),
            files={},
        )

    with writing(folder):
        write(folder, writers(documents, passages, lexical, dense), manifest)


def _saved_lexical(task: Task) -> LexicalIndex | None:
    if not (task.work / _VOCABULARY).exists():
        return None
    words = (task.work / _VOCABULARY).read_text(encoding="utf-8").split("\n")
    arrays = [np.load(task.work / name, mmap_mode="r") for name in _POSTINGS]
    return LexicalIndex(Postings({word: place for place, word in enumerate(words)}, *arrays), LexicalOptions())


def _texts(task: Task) -> Iterator[str]:
    with (task.work / _TEXTS).open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n")


def _vectors(task: Task) -> Floats:
    """Mapped, not read."""
    vectors: Floats = np.asarray(np.load(task.work / _VECTORS, mmap_mode="r"))
    return vectors


def _questions(task: Task) -> Floats:
    return np.concatenate(list(unit_vectors(task.queries, task.dimension, seed=task.seed, part=1)))


def _recall(task: Task, found: Sequence[Sequence[int]]) -> float | None:
    truth = task.work / _TRUTH
    if task.engine not in ("hnsw", "sq8", "ivf-sq8") or not truth.exists():
        return None
    right = np.load(truth)
    return float(np.mean([len(set(mine) & set(exact.tolist())) / K for mine, exact in zip(found, right, strict=True)]))


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


_BUILDERS: Mapping[str, Callable[[Task], Any]] = {
    "lexical": _lexical,
    "flat": _flat,
    "hnsw": _hnsw,
    "sq8": _quantised,
    "ivf-sq8": _quantised,
    "hybrid": _hybrid,
}
