"""Windows read before: a second search adds passages to a prompt, and only what is new is read.

Exact, since windows do not see each other. Knows tensors, not prompts.
"""

# T tokens of a window; windows here have no padding.

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import torch
from torch import Tensor

from .model import Reader, Windows


class WindowCache:
    """The windows read last, at most `size` of them (10 KB a token, so 1.5 MB for one of 150). Safe between threads."""

    def __init__(self, size: int = 32) -> None:
        self.size = size
        self._kept: OrderedDict[bytes, Windows] = OrderedDict()
        self._lock = Lock()

    def read(self, reader: Reader, windows: Sequence[Tensor]) -> Windows:
        """These windows ([3, T]: ids, marks, types), one after another, as `reader.read` gives them, reading only those that
        are not kept."""
        keys = [window.cpu().numpy().tobytes() for window in windows]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: window for key, window in zip(keys, windows, strict=True) if key not in known}
        if missing:
            lengths = [window.shape[1] for window in missing.values()]
            read = reader.read(torch.cat(list(missing.values()), 1), lengths)
            known |= zip(missing, read.split(lengths), strict=True)
        self._keep(known)
        return Windows.joined([known[key] for key in keys])

    def _keep(self, known: dict[bytes, Windows]) -> None:
        with self._lock:
            for key, window in known.items():
                self._kept[key] = window
                self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
