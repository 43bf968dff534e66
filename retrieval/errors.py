"""What can go wrong in retrieval, sorted by what a caller can do about it.

RetrievalError
├── DocumentUnreadable    a file could not be turned into text; `path` and `reason` say which and why
├── InvalidDocuments      records that can't be indexed as given: colliding ids, wrong fields, non-finite vectors
├── EmbedderUnavailable   an embedding model is missing, or its files are not the ones expected
├── IndexUnusable         a folder is not an index, or is damaged, newer than this version, or made by another embedder
├── IndexBusy             another process is writing this index
├── ClusterUnavailable    a cluster that work was to be spread over is not there, or gave it up
└── StoreUnavailable      a server of passages can't be reached, or refuses
    └── StoreFull         it has no room left
"""

from pathlib import Path


class RetrievalError(Exception):
    """Any trouble with documents, embedders or indexes that a user can mend."""


class DocumentUnreadable(RetrievalError):
    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = Path(path)
        self.reason = reason


class InvalidDocuments(RetrievalError):
    pass


class EmbedderUnavailable(RetrievalError):
    pass


class IndexUnusable(RetrievalError):
    pass


class IndexBusy(RetrievalError):
    pass


class ClusterUnavailable(RetrievalError):
    pass


class StoreUnavailable(RetrievalError):
    pass


class StoreFull(StoreUnavailable):
    pass
