"""A denoiser without a network, for tests and for looking at the loop: its logits come from a table you write down."""

# B rows, N slots, V vocabulary.

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class TableDenoiser:
    """Says `table_NV` at every pass. `links[(slot, id)]` adds logits [N, V] once that slot holds that id: how a committed
    token changes what others say."""

    table_NV: Tensor
    mask_id: int
    links: dict[tuple[int, int], Tensor] | None = None

    def prefill(self, prompt_ids: Tensor) -> None:
        """There is nothing to read."""

    def predict(self, state: None, canvas_BN: Tensor) -> Tensor:
        logits = self.table_NV.expand(canvas_BN.shape[0], -1, -1).clone()
        for (slot, token), change_NV in (self.links or {}).items():
            held_B = canvas_BN[:, slot] == token
            logits += torch.where(held_B[:, None, None], change_NV, 0.0)
        return logits
