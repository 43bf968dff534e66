"""Documents that can be searched, in memory or in a folder: added, updated, deleted, saved, opened again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from . import contents, store, update
from .dense import DenseIndex
from .document import Document, Hit, Passage, Scalar
from .embed import Embedder, default_embedder, load_embedder
from .errors import IndexBusy, IndexUnusable, InvalidDocuments
from .hybrid import FusionOptions, HybridRetriever, Mode, Where
from .lexical import LexicalIndex, LexicalOptions
from .manifest import EmbedderRecord, Manifest
from .origin import check_origins
from .progress import Progress
from .split import SplitOptions, split

Splitter = Callable[[Document], Sequence[Passage]]
"""Cuts a document into passages whose `document_id` is its id and whose text is `document.text[start:end]`."""


SpreadSplit = Callable[[Iterable[Document], SplitOptions], Iterable[Sequence[Passage]]]
"""The passages of each document, in the order of the documents, as `split` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What an update did. Documents, but for `embedded`, which counts passages that the embedder was given."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    embedded: int = 0


class Index:
    """A `Retriever` that can change. Safe to search from many threads while one adds.

    Nothing reaches a folder before `save`; `build` does all in one step. Make one with `create` or `open`.
    """

    def __init__(
        self,
        state: update.State,
        *,
        split: SplitOptions | None,
        splitter: Splitter | None,
        saved: tuple[Path, str] | None,
    ) -> None:
        self._state = state
        self._split = split
        self._splitter = splitter
        self._saved = saved
        self._changing = Lock()

    @classmethod
    def create(
        cls,
        documents: Iterable[Document] = (),
        *,
        embedder: Embedder | None = None,
        lexical: LexicalOptions | None = None,
        split: SplitOptions | None = None,
        splitter: Splitter | None = None,
        fusion: FusionOptions | None = None,
        progress: Progress | None = None,
    ) -> "Index":
        """In memory. With a `splitter` of your own, passages are what it returns and `split` is not used."""
        retriever = HybridRetriever(
            (),
            LexicalIndex.build([], lexical),
            DenseIndex.build(np.zeros((0, 0), dtype=np.float32)),
            embedder or default_embedder(),
            fusion=fusion,
        )
        sizes = None if splitter else split or SplitOptions()
        index = cls(update.State({}, retriever), split=sizes, splitter=splitter, saved=None)
        index.add(documents, progress=progress)
        return index

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        embedder: Embedder | None = None,
        splitter: Splitter | None = None,
        fusion: FusionOptions | None = None,
    ) -> "Index":
        """From a folder, after every file's hash was checked. Vectors stay on disk until they are used.

        Raises IndexUnusable where the folder is no sound index, or was made by another embedder than the one given, and
        EmbedderUnavailable where none is given and the index's own is not there.
        """
        path = Path(path).resolve()

        def load(folder: Path, manifest: Manifest) -> Index:
            chosen = embedder or load_embedder(manifest.embedder.name)
            _check_embedder(path, manifest.embedder, chosen)
            documents, passages, words, vectors = contents.load(folder, manifest)
            retriever = HybridRetriever(passages, words, vectors, chosen, fusion=fusion)
            saved = (path, manifest.generation)
            return cls(update.State(documents, retriever), split=manifest.split, splitter=splitter, saved=saved)

        return store.read(path, load)

    def search(self, query: str, k: int = 10, *, where: Where | None = None, mode: Mode = "hybrid") -> list[Hit]:
        """See `HybridRetriever.search`."""
        return self._state.retriever.search(query, k, where=where, mode=mode)

    def document(self, document_id: str) -> Document:
        """The whole text that a passage of this document was cut from. KeyError where there is none."""
        return self._state.documents[document_id]

    @property
    def documents(self) -> Mapping[str, Document]:
        """All of one moment by id; each is read when it is asked for."""
        return self._state.documents

    @property
    def document_ids(self) -> tuple[str, ...]:
        return tuple(self._state.documents)

    @property
    def passages(self) -> Sequence[Passage]:
        return self._state.retriever.passages

    @property
    def embedder(self) -> Embedder:
        return self._state.retriever.embedder

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self.passages)

    def add(
        self, documents: Iterable[Document], *, progress: Progress | None = None, spread: SpreadSplit | None = None
    ) -> Changes:
        """Add new documents, replace those whose id is known and whose content differs, leave the rest alone.

        Passages whose text is already here are not embedded again. With `spread` documents are split elsewhere, such as
        on a cluster. On any error nothing has changed; one is InvalidDocuments where a document from one file would
        replace that from another, which is still there.
        """
        given = update.by_id(documents)
        with self._changing:
            old = self._state
            changed = {key: new for key, new in given.items() if not update.same(old.documents.get(key), new)}
            embedded = 0
            known = ((key, old.documents[key].metadata, new) for key, new in changed.items() if key in old.documents)
            check_origins(known)
            if changed:
                cut = self._all_cut(changed, spread)
                self._state, embedded = update.merged(old, changed, cut, progress)
        updated = sum(key in old.documents for key in changed)
        unchanged = len(given) - len(changed)
        return Changes(added=len(changed) - updated, updated=updated, unchanged=unchanged, embedded=embedded)

    def delete(self, document_ids: Iterable[str]) -> int:
        """Remove these documents; ids that are unknown are passed over. How many went."""
        with self._changing:
            gone = set(document_ids) & set(self._state.documents)
            if gone:
                self._state = update.without(self._state, gone)
        return len(gone)

    def save(self, path: Path | str | None = None) -> None:
        """Write to a folder: to `path`, or where it was opened or saved last.

        Raises IndexBusy while another process writes there, or when one has written there since, and IndexUnusable where
        the folder holds something else.
        """
        if path is None and self._saved is None:
            raise ValueError("this index was never in a folder: say where to save it")
        target = Path(path).resolve() if path is not None else self._saved[0]  # type: ignore[index]
        with store.writing(target):
            self._save_held(target)

    def _save_held(self, target: Path) -> None:
        if store.is_index(target):
            if self._saved is None or self._saved[0] != target:
                raise IndexUnusable(f"{target}: holds another index. Add to that one, or choose another folder")
            if self._saved[1] != store.read_manifest(target).generation:
                raise IndexBusy(f"{target}: was changed by another process since it was opened. Open it again")
        state, retriever = self._state, self._state.retriever

        def manifest(generation: str) -> Manifest:
            return Manifest(
                generation=generation,
                embedder=EmbedderRecord(
                    name=self.embedder.name,
                    fingerprint=self.embedder.fingerprint,
                    dimension=retriever.dense.vectors_ND.shape[1],
                ),
                lexical=retriever.lexical.options,
                split=self._split,
                documents=len(state.documents),
                passages=len(retriever),
                files={},
            )

        files = contents.writers(state.documents, retriever.passages, retriever.lexical, retriever.dense)
        self._saved = (target, store.write(target, files, manifest).generation)

    def origins(self) -> Iterator[tuple[str, Mapping[str, Scalar]]]:
        """Each document's id with its metadata."""
        for key, document in self._state.documents.items():
            yield key, document.metadata

    def _all_cut(self, documents: Mapping[str, Document], spread: SpreadSplit | None) -> dict[str, Sequence[Passage]]:
        if spread is None or self._splitter or self._split is None:
            return {key: self._cut(document) for key, document in documents.items()}
        return dict(zip(documents, spread(documents.values(), self._split), strict=True))

    def _cut(self, document: Document) -> Sequence[Passage]:
        if self._splitter:
            passages = self._splitter(document)
        elif self._split:
            passages = split(document, self._split)
        else:
            raise IndexUnusable("the passages of this index were cut by a function of your own: open it with splitter=")
        for passage in passages:
            if passage.document_id != document.id or document.text[passage.start : passage.end] != passage.text:
                raise InvalidDocuments(f"document {document.id!r}: passage {passage.id} is not a piece of its text")
        return passages


def build(
    documents: Iterable[Document],
    out: Path | str,
    *,
    embedder: Embedder | None = None,
    lexical: LexicalOptions | None = None,
    split: SplitOptions | None = None,
    splitter: Splitter | None = None,
    progress: Progress | None = None,
    spread: SpreadSplit | None = None,
) -> tuple[Index, Changes]:
    """Update the index in folder `out` with these documents, or make it. Documents not given stay as they are.

    Options are for a new index; where one is there, options that differ from its own are refused. The folder is locked
    from beginning to end, and nothing is written if nothing changed.
    """
    out = Path(out).resolve()
    with store.writing(out):
        if store.is_index(out):
            index = Index.open(out, embedder=embedder, splitter=splitter)
            _check_options(out, index, lexical, split)
        else:
            index = Index.create(embedder=embedder, lexical=lexical, split=split, splitter=splitter)
        changes = index.add(documents, progress=progress, spread=spread)
        if index._saved is None or changes.added or changes.updated:
            index._save_held(out)
    return index, changes


def _check_embedder(path: Path, record: EmbedderRecord, embedder: Embedder) -> None:
    if record.fingerprint != embedder.fingerprint:
        raise IndexUnusable(
            f"{path}: was made by the embedder {record.name!r} ({record.dimension} dimensions), not by"
            f" {embedder.name!r} as it is here. Use that one, or index the documents again into another folder"
        )


def _check_options(path: Path, index: Index, lexical: LexicalOptions | None, split: SplitOptions | None) -> None:
    own = {"lexical": index._state.retriever.lexical.options, "split": index._split}
    for name, asked in {"lexical": lexical, "split": split}.items():
        if asked is not None and asked != own[name]:
            raise IndexUnusable(
                f"{path}: was made with {name} options {own[name]!r}, not {asked!r}."
                " Leave the option out, or choose another folder"
            )
