"""Who sees whom: additive masks [B, 1, queries, keys] for networks that would look only back by themselves."""

# B rows, Q query columns, K key columns.

import torch
from torch import Tensor


def attention_mask(
    query_places_BQ: Tensor,
    key_places_BK: Tensor,
    valid_BK: Tensor,
    dtype: torch.dtype,
    *,
    block_length: int | None = None,
) -> Tensor:
    """0 where a query may look, the dtype's lowest number elsewhere. `valid_BK` is False for padding, which nobody sees.

    Every query sees every key; with `block_length`, those of its own block of places and of earlier ones (block
    diffusion, BD3-LM, arXiv 2503.09573). A finite lowest number keeps a row that sees nothing from becoming NaN.

    >>> three = torch.arange(3)[None]
    >>> attention_mask(three, three, three >= 0, torch.float32, block_length=2)[0, 0].eq(0).tolist()
    [[True, True, False], [True, True, False], [True, True, True]]
    """
    seen_BQK = valid_BK[:, None, :].expand(-1, query_places_BQ.shape[1], -1)
    if block_length is not None:
        seen_BQK = seen_BQK & (key_places_BK[:, None, :] // block_length <= query_places_BQ[:, :, None] // block_length)
    mask_BQK = torch.zeros(seen_BQK.shape, dtype=dtype, device=valid_BK.device)
    return mask_BQK.masked_fill(~seen_BQK, torch.finfo(dtype).min)[:, None]


def places(valid_BL: Tensor, *, from_first: bool) -> Tensor:
    """The place of every column, for its rotary angle. `from_first`: counted from a row's first real token; padding gets 0.

    >>> places(torch.tensor([[False, True, True]]), from_first=True).tolist()
    [[0, 0, 1]]
    """
    if from_first:
        return (valid_BL.long().cumsum(1) - 1).clamp(min=0)
    return torch.arange(valid_BL.shape[1], device=valid_BL.device).expand(valid_BL.shape)
