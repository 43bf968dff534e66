"""Keys of documents, computed once and used for every question after: bounded memory, least used first out.

Only for what is read by itself, before and without the question: there reuse is exact. What is kept is never written to
again, so requests may share it; each copies what it takes.
"""

from collections import OrderedDict
from threading import Lock

from torch import Tensor

from .keys import KeyStore


class DocumentCache:
    """By the ids that were read. `max_bytes` bounds what is kept; what is larger than that alone is not kept at all."""

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes={max_bytes!r} is negative. 0 keeps nothing")
        self.max_bytes = max_bytes
        self.hits = self.misses = 0
        self._kept: OrderedDict[bytes, KeyStore] = OrderedDict()
        self._lock = Lock()

    def find(self, ids_L: Tensor) -> KeyStore | None:
        """The keys of just these ids; not to be written to."""
        with self._lock:
            found = self._kept.get(_name(ids_L))
            if found is None:
                self.misses += 1
                return None
            self.hits += 1
            self._kept.move_to_end(_name(ids_L))
            return found

    def put(self, ids_L: Tensor, keys: KeyStore) -> None:
        """Keeps keys that nobody will write to any more."""
        if keys.bytes > self.max_bytes:
            return
        with self._lock:
            self._kept[_name(ids_L)] = keys
            self._kept.move_to_end(_name(ids_L))
            while sum(each.bytes for each in self._kept.values()) > self.max_bytes:
                self._kept.popitem(last=False)

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(each.bytes for each in self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)


def _name(ids_L: Tensor) -> bytes:
    return ids_L.cpu().numpy().tobytes()
