"""What an index's `manifest.json` says: which format, which files with which hashes, and how passages were made."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import IndexUnusable
from .lexical import LexicalOptions
from .split import SplitOptions

FORMAT = 1
REBUILD = "Delete the folder and index the documents again"


class EmbedderRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    fingerprint: str
    dimension: int


class FileRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str
    size_bytes: int


class Manifest(BaseModel):
    """`files` are names inside the folder `generation`. `split` is None where the caller split documents itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    generation: str
    embedder: EmbedderRecord
    lexical: LexicalOptions
    split: SplitOptions | None
    documents: int
    passages: int
    files: dict[str, FileRecord]
    seal: str = ""
    """sha256 of all the rest, so that an edited manifest is noticed too."""

    def sealed(self) -> "Manifest":
        return self.model_copy(update={"seal": self._seal()})

    def _seal(self) -> str:
        return hashlib.sha256(self.model_copy(update={"seal": ""}).model_dump_json().encode()).hexdigest()


class _Format(BaseModel):
    format: int


def parse(text: bytes, path: Path) -> Manifest:
    """The manifest, or IndexUnusable that says what ails it."""
    try:
        found = _Format.model_validate_json(text).format
        if found > FORMAT:
            raise IndexUnusable(
                f"{path}: made by a newer version (format {found}, this one reads {FORMAT})."
                " Upgrade with: pip install -U remask"
            )
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise IndexUnusable(f"{path}: damaged: {error.errors()[0]['msg']}. {REBUILD}") from error
    if manifest.seal != manifest._seal():
        raise IndexUnusable(f"{path}: was changed since it was written. {REBUILD}")
    return manifest
