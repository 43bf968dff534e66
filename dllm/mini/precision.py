"""Which number format to compute in: measured on the machine at hand, not assumed."""

import time
from typing import Literal

import torch

Precision = Literal["auto", "float32", "bfloat16"]


def use_bfloat16(precision: Precision, device: torch.device) -> bool:
    """Whether to compute in bfloat16: as told, or, for "auto", if a matrix product is at least 1.3 times as fast in it."""
    if precision != "auto":
        return precision == "bfloat16"
    if device.type != "cpu":
        return True
    return _product_seconds(torch.float32) > 1.3 * _product_seconds(torch.bfloat16)


def _product_seconds(dtype: torch.dtype) -> float:
    a, b = torch.ones(512, 384, dtype=dtype), torch.ones(384, 1536, dtype=dtype)
    best = float("inf")
    for _ in range(8):
        begin = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - begin)
    return best
