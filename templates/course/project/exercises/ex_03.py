"""Exercise 3: the noising step of masked diffusion."""

import torch
from torch import Tensor


def mask_some(ids_BN: Tensor, share_B: Tensor, *, mask_id: int, generator: torch.Generator) -> Tensor:
    """A copy in which each word of row b is `mask_id` with the chance `share_B[b]`, each by itself. The input stays as it is."""
    raise NotImplementedError("your turn")
