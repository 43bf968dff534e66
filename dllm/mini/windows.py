"""Windows read before: a second search adds passages to a prompt, and only what is new is read.

Exact, since windows do not see each other. Knows tensors, not prompts.
"""

# T tokens of a window; windows here have no padding.

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock

import torch
import torch.nn.functional as F
from torch import Tensor

from .model import Reader, Windows

ALIKE = 0.8  # windows at least this long are padded to the longest of their batch


class WindowCache:
    """The windows read last, at most `size` of them (10 KB a token, so 1.5 MB for one of 150). Safe between threads."""

    def __init__(self, size: int = 32) -> None:
        self.size = size
        self._kept: OrderedDict[bytes, Windows] = OrderedDict()
        self._lock = Lock()

    def read(self, reader: Reader, windows: Sequence[Tensor]) -> list[Windows]:
        """Each window [3, T] (ids, marks, types) as `reader.read_windows` reads it, reading only those that are not kept."""
        keys = [window.cpu().numpy().tobytes() for window in windows]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: window for key, window in zip(keys, windows, strict=True) if key not in known}
        for batch in _batches(sorted(missing, key=lambda key: -missing[key].shape[1]), missing):
            known |= zip(batch, _read(reader, [missing[key] for key in batch]), strict=True)
        self._keep(known)
        return [known[key] for key in keys]

    def _keep(self, known: dict[bytes, Windows]) -> None:
        with self._lock:
            for key, window in known.items():
                self._kept[key] = window
                self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)


def _batches(keys: Sequence[bytes], windows: dict[bytes, Tensor]) -> Iterator[list[bytes]]:
    """Keys, longest window first, cut where windows become much shorter than their batch's first."""
    batch: list[bytes] = []
    for key in keys:
        if batch and windows[key].shape[1] < ALIKE * windows[batch[0]].shape[1]:
            yield batch
            batch = []
        batch.append(key)
    if batch:
        yield batch


def _read(reader: Reader, windows: Sequence[Tensor]) -> list[Windows]:
    """Read in one batch, given back one by one without the padding (id 0 in every BERT vocabulary)."""
    width = max(window.shape[1] for window in windows)
    ids, marks, types = torch.stack([F.pad(window, (0, width - window.shape[1])) for window in windows], 1)
    read = reader.read_windows(ids, marks, types, pad=0)
    return [_cut(read, row, window.shape[1]) for row, window in enumerate(windows)]


def _cut(read: Windows, row: int, length: int) -> Windows:
    return read.each(lambda t: t[row : row + 1, ..., :length, :].clone())


def joined(windows: Sequence[Windows]) -> Windows:
    """Windows one after another, as one."""
    return Windows(
        torch.cat([w.states for w in windows], -2),
        torch.cat([w.start for w in windows], -2),
        torch.cat([w.stop for w in windows], -2),
        torch.cat([w.cite for w in windows], -2),
        [torch.cat(layer, -2) for layer in zip(*(w.keys for w in windows), strict=True)],
        [torch.cat(layer, -2) for layer in zip(*(w.values for w in windows), strict=True)],
    )
