"""Random numbers that belong to a row: what a row draws does not depend on what else is in its batch.

A row draws only for the slots it asks about, in order, so padding left or right of them changes nothing either.
"""

# B batch, N canvas slots, V vocabulary, M slots asked about in one row.

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

Seed = int | Sequence[int]
"""One number for a batch, or one a row."""
Stream = Literal["order", "words", "canvas"]
"""What the numbers decide. Streams under one seed are independent: a slot's turn says nothing of its word."""
_STREAMS: tuple[Stream, ...] = ("order", "words", "canvas")


def row_seeds(seed: Seed, rows: int) -> list[int]:
    """The seed of each row. From one number, row 2 gets what a batch of its own would get from `seed + 2`.

    >>> row_seeds(7, 3)
    [7, 8, 9]
    """
    if isinstance(seed, int):
        return [seed + row for row in range(rows)]
    if len(seed) != rows:
        raise ValueError(f"{len(seed)} seeds for {rows} rows. Give one number, or one for every row")
    return list(seed)


class RowNoise:
    """A generator for every row. Lives as long as a request."""

    def __init__(self, seed: Seed, rows: int, *, stream: Stream, device: torch.device | str = "cpu") -> None:
        self._device = torch.device(device)
        self._generators = [
            torch.Generator(self._device).manual_seed(_mixed(each, _STREAMS.index(stream)))
            for each in row_seeds(seed, rows)
        ]

    def uniform(self, where_BN: Tensor) -> Tensor:
        """Float64 in [0, 1) where `where_BN` holds, 0 elsewhere."""
        out_BN = torch.zeros(where_BN.shape, dtype=torch.float64, device=self._device)
        for row, generator in enumerate(self._generators):
            here = where_BN[row]
            out_BN[row, here] = torch.rand(
                int(here.sum()), generator=generator, dtype=torch.float64, device=self._device
            )
        return out_BN

    def uniform_words(self, where_N: Tensor, row: int, vocabulary: int) -> Tensor:
        """Float64 in [0, 1) for every word at the slots of one row where `where_N` holds, [M, V]."""
        return torch.rand(
            int(where_N.sum()), vocabulary, generator=self._generators[row], dtype=torch.float64, device=self._device
        )

    def ids(self, slots: int, vocabulary: int) -> Tensor:
        """A word for every slot of every row, all words alike, [B, N]."""
        rows = [torch.randint(vocabulary, (slots,), generator=g, device=self._device) for g in self._generators]
        return torch.stack(rows)

    def drawn(self, p_BNV: Tensor) -> Tensor:
        """A word for every slot, as likely as `p_BNV` says, [B, N]."""
        rows = [torch.multinomial(p, 1, generator=g)[:, 0] for p, g in zip(p_BNV, self._generators, strict=True)]
        return torch.stack(rows)


def _mixed(seed: int, stream: int) -> int:
    return int(np.random.SeedSequence((seed % 2**64, stream)).generate_state(1, np.uint64)[0])
