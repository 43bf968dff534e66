"""Windows read before: a second search adds passages to a prompt, and only what is new is read.

Exact, since windows do not see each other. Knows tensors, not prompts.
"""

# W windows, T tokens a window.

from collections import OrderedDict
from threading import Lock

import torch
import torch.nn.functional as F
from torch import Tensor

from .model import Reader, Windows


class WindowCache:
    """The windows read last, at most `size` (about 0.5 MB each at 96 tokens, 2 MB at 384, in bfloat16). Safe between threads."""

    def __init__(self, size: int = 32) -> None:
        self.size = size
        self._kept: OrderedDict[bytes, Windows] = OrderedDict()
        self._lock = Lock()

    def read(self, reader: Reader, ids_WT: Tensor, marks_WT: Tensor, types_WT: Tensor, *, pad: int) -> Windows:
        """What `reader.read_windows` gives, reading only the windows that are not kept."""
        keys = [_key(*row) for row in zip(ids_WT, marks_WT, types_WT, strict=True)]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [n for n, key in enumerate(keys) if key not in known]
        if missing:
            fresh = reader.read_windows(ids_WT[missing], marks_WT[missing], types_WT[missing], pad=pad)
            if len(missing) == len(keys):
                self._keep(keys, fresh)
                return fresh
            known |= {keys[n]: _row(fresh, i) for i, n in enumerate(missing)}
            self._keep([keys[n] for n in missing], fresh)
        return _stacked([known[key] for key in keys], ids_WT.shape[1])

    def _keep(self, keys: list[bytes], windows: Windows) -> None:
        with self._lock:
            for number, key in enumerate(keys):
                self._kept[key] = _row(windows, number)
                self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)


def _key(ids_T: Tensor, marks_T: Tensor, types_T: Tensor) -> bytes:
    """A window's content. Padding belongs to it no more than the width it happens to be padded to."""
    used = int(ids_T.nonzero().max()) + 1  # padding is id 0 in every BERT vocabulary
    return torch.stack([t[:used] for t in (ids_T, marks_T, types_T)]).cpu().numpy().tobytes()


def _row(windows: Windows, number: int) -> Windows:
    return windows.each(lambda t: t[number : number + 1])


def _stacked(rows: list[Windows], width: int) -> Windows:
    """Rows of different padded widths as one batch. What is cut off or added is padding, which nothing attends to."""
    fitted = [row.each(lambda t: F.pad(t[..., :width, :], (0, 0, 0, max(0, width - t.shape[-2])))) for row in rows]
    return Windows(
        torch.cat([row.states for row in fitted]),
        torch.cat([row.start for row in fitted]),
        torch.cat([row.stop for row in fitted]),
        torch.cat([row.cite for row in fitted]),
        [torch.cat(layer) for layer in zip(*(row.keys for row in fitted), strict=True)],
        [torch.cat(layer) for layer in zip(*(row.values for row in fitted), strict=True)],
    )
