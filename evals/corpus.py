"""A file of texts to search, as documents that are one passage each, with the sentences that they came with.

JSON lines with `id` or `_id`, `title`, and `text`, or `sents`, or `sentences`: HotpotQA paragraphs, or BEIR's corpus.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..agent.console import UsageError, progress
from ..retrieval import Document, FusionOptions, Index, InvalidDocuments, Passage, bar, build, passage_from_sentences
from ..retrieval.records import SENTENCE_FIELDS, record_document
from .errors import DataUnusable
from .records import Row, read_rows


class Corpus(NamedTuple):
    """`splitter` makes each document one passage, whose sentences are the file's own."""

    documents: list[Document]
    splitter: Callable[[Document], Sequence[Passage]]


def read_corpus(path: Path) -> Corpus:
    """Blank texts are left out. Raises DataUnusable, which names the row."""
    documents: list[Document] = []
    sentences: dict[str, list[str]] = {}
    for number, row in enumerate(read_rows(path), 1):
        row.get("id", "_id")
        given = next((row.fields[name] for name in SENTENCE_FIELDS if name in row.fields), None)
        if _blank(row, given):
            continue
        try:
            document = record_document(row.fields, number)
        except InvalidDocuments as error:
            raise DataUnusable(f"{path}: {error}") from error
        documents.append(document.model_copy(update={"metadata": {}}))
        if isinstance(given, list):
            sentences[document.id] = given
    if not documents:
        raise DataUnusable(f"{path}: holds no text")

    def splitter(document: Document) -> Sequence[Passage]:
        if document.id in sentences:
            return [passage_from_sentences(document.id, document.title, sentences[document.id])]
        return [Passage(document.id, document.text, 0, len(document.text), title=document.title)]

    return Corpus(documents, splitter)


def open_index(folder: Path | None, corpus: Path | None, out: Path, *, fusion: FusionOptions | None = None) -> Index:
    """The index in `folder`, with the texts of `corpus` added if there is one; without a folder, in `out`/index."""
    if corpus is None:
        if folder is None:
            raise UsageError("give --index DIR, --corpus FILE, or both. See --help")
        with progress().status("opening the index"):
            return Index.open(folder, fusion=fusion)
    with progress().status("reading the texts"):
        given = read_corpus(corpus)
    with bar("embedding") as tell:
        built, _ = build(given.documents, folder or out / "index", splitter=given.splitter, progress=tell)
    return Index.open(folder or out / "index", embedder=built.embedder, fusion=fusion)


def _blank(row: Row, sentences: object) -> bool:
    text = row.fields.get("text")
    if isinstance(sentences, list) and all(isinstance(one, str) for one in sentences):
        return not "".join(sentences).strip()
    return isinstance(text, str) and not text.strip()
