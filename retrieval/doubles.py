"""Stand-ins for tests and examples: real in shape, small in cost. Nothing here is meant to find anything well."""

import hashlib
from collections.abc import Sequence

import numpy as np

from .errors import EmbedderUnavailable
from .postings import Floats
from .progress import Progress
from .words import query_words


class HashEmbedder:
    """Adds up one fixed pseudo-random vector a word, so texts that share words are near. Counts what it embeds.

    The same on every machine. A text without words has the zero vector.
    """

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.embedded = 0
        """How many passages it was given so far."""

    @classmethod
    def named(cls, name: str) -> "HashEmbedder":
        _, _, dimension = name.partition(":")
        if not dimension.isdecimal() or int(dimension) < 1:
            raise EmbedderUnavailable(f"{name!r} is no hash embedder. Write its dimension, as in 'hash:64'")
        return cls(int(dimension))

    @property
    def name(self) -> str:
        return f"hash:{self.dimension}"

    @property
    def fingerprint(self) -> str:
        return f"{self.name}:1"

    def embed_passages(self, texts: Sequence[str], *, progress: Progress | None = None) -> Floats:
        self.embedded += len(texts)
        rows = [self.embed_query(text) for text in texts]
        if progress:
            progress(len(rows), len(rows))
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)

    def embed_query(self, text: str) -> Floats:
        total = np.zeros(self.dimension, dtype=np.float32)
        for word in query_words(text):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)
        return total
