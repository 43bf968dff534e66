"""Documents in, found passages out, each with its exact place in its document. Importing this loads no model library.

index, changes = build(load("my-documents"), "my-index")
for hit in index.search("Who may cancel?", k=5):
    print(hit.score, hit.passage.title, index.document(hit.passage.document_id).text[hit.passage.start:])
"""

from .document import Document, Hit, Passage, Ranked, Retriever, Scalar, Span
from .doubles import HashEmbedder
from .embed import Embedder, SentenceTransformerEmbedder, default_embedder, load_embedder
from .errors import (
    ClusterUnavailable,
    DocumentUnreadable,
    EmbedderUnavailable,
    IndexBusy,
    IndexUnusable,
    InvalidDocuments,
    RetrievalError,
    StoreFull,
    StoreUnavailable,
)
from .hybrid import FusionOptions, HybridRetriever, Mode, Where
from .index import Changes, Index, Splitter, build
from .lexical import LexicalOptions
from .load import Loading, load
from .origin import gone, origin
from .progress import Progress, bar
from .records import from_records
from .source import Note
from .split import SplitOptions, passage_from_sentences, split
from .update import indexed_text
from .words import ENGLISH_STOP_WORDS, WordOptions

__all__ = [
    "ENGLISH_STOP_WORDS",
    "Changes",
    "ClusterUnavailable",
    "Document",
    "DocumentUnreadable",
    "Embedder",
    "EmbedderUnavailable",
    "FusionOptions",
    "HashEmbedder",
    "Hit",
    "HybridRetriever",
    "Index",
    "IndexBusy",
    "IndexUnusable",
    "InvalidDocuments",
    "LexicalOptions",
    "Loading",
    "Mode",
    "Note",
    "Passage",
    "Progress",
    "Ranked",
    "RetrievalError",
    "Retriever",
    "Scalar",
    "SentenceTransformerEmbedder",
    "Span",
    "SplitOptions",
    "Splitter",
    "StoreFull",
    "StoreUnavailable",
    "Where",
    "WordOptions",
    "bar",
    "build",
    "default_embedder",
    "from_records",
    "gone",
    "indexed_text",
    "load",
    "load_embedder",
    "origin",
    "passage_from_sentences",
    "split",
]
