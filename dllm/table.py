"""A denoiser whose logits are written in tables: for tests, examples and thought experiments. No model.

With neighbour tables its slots depend on each other, so what parallel passes break ("New Angeles") can be shown and counted.
"""

# B batch, N canvas slots, V vocabulary.

from collections.abc import Sequence

import torch
from torch import Tensor


class TableDenoiser:
    """Slot i has the logits `table_NV[i]`, plus `after_VV[v]` where the slot before it holds the word v, plus
    `before_VV[v]` where the slot after it does. A masked neighbour adds nothing.

    >>> los_or_new = torch.tensor([[1.0, 1.1, 0.0, 0.0], [0.0, 0.0, 1.1, 1.0]])  # Los, New; Angeles, York
    >>> model = TableDenoiser(los_or_new, mask_id=4)
    >>> model.predict((), torch.tensor([[4, 4]])).argmax(-1).tolist()
    [[1, 2]]
    """

    def __init__(
        self, table_NV: Tensor, *, mask_id: int, after_VV: Tensor | None = None, before_VV: Tensor | None = None
    ) -> None:
        V = table_NV.shape[1]
        for name, table in (("after_VV", after_VV), ("before_VV", before_VV)):
            if table is not None and table.shape != (V, V):
                raise ValueError(f"{name} is {tuple(table.shape)!r}. Give it a row and a column for each of {V} words")
        self.mask_id = mask_id
        self._table_NV, self._after_VV, self._before_VV = table_NV, after_VV, before_VV

    def prefill(self, prompts: Sequence[Sequence[int]]) -> tuple[()]:
        """Nothing: the table is the same for every prompt."""
        return ()

    def predict(self, state: tuple[()], canvas_BN: Tensor) -> Tensor:
        """`logits_BNV`. Words outside the vocabulary (padding) count as no neighbour. ValueError for a canvas longer than
        the table."""
        B, N = canvas_BN.shape
        if len(self._table_NV) < N:
            raise ValueError(f"a canvas of {N} slots is longer than the table of {len(self._table_NV)}")
        logits_BNV = self._table_NV[:N].expand(B, -1, -1).clone()
        if self._after_VV is not None:
            logits_BNV[:, 1:] += self._said(self._after_VV, canvas_BN[:, :-1])
        if self._before_VV is not None:
            logits_BNV[:, :-1] += self._said(self._before_VV, canvas_BN[:, 1:])
        return logits_BNV

    def _said(self, table_VV: Tensor, words_BN: Tensor) -> Tensor:
        """The row of each word; zeros where there is none or it is masked."""
        known_BN = (words_BN != self.mask_id) & (words_BN >= 0) & (words_BN < len(table_VV))
        return torch.where(known_BN[..., None], table_VV[words_BN.where(known_BN, 0)], 0.0)
