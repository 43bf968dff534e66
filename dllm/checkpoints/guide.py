"""Logits with a prompt, pushed away from the logits without it (classifier-free guidance)."""

from torch import Tensor


def guided(with_BNV: Tensor, without_BNV: Tensor, scale: float | Tensor) -> Tensor:
    """`without + (scale + 1) (with - without)`, LLaDA's rule (arXiv 2502.09992, its `cfg_scale`): 0 changes nothing.

    >>> import torch
    >>> guided(torch.tensor([2.0]), torch.tensor([1.0]), 1.5).tolist()
    [3.5]
    """
    return without_BNV + (scale + 1) * (with_BNV - without_BNV)
