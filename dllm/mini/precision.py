"""Which number format to compute in: measured on the machine at hand, not assumed."""

import time
import warnings
from typing import Literal

import torch
from torch import Tensor, nn

from ..packed import pack, packed
from .model import Layer, Reader

Precision = Literal["auto", "float32", "bfloat16", "int8"]


WORTH = 1.3  # times as fast as float32 a brief format must be for its rounding to pay


def use_bfloat16(precision: Precision, device: torch.device) -> bool:
    """Whether to compute in bfloat16: as told, or, for "auto", if a matrix product is `WORTH` times as fast in it."""
    if precision != "auto":
        return precision == "bfloat16"
    return device.type != "cpu" or _pays(packed(_layer().to(torch.bfloat16)), torch.bfloat16)


def use_int8(precision: Precision, device: torch.device) -> bool:
    """Whether to multiply in int8: as told, or, for "auto", if it is `WORTH` times as fast. Asked when bfloat16 is not."""
    if precision != "auto":
        return precision == "int8"
    return (
        device.type == "cpu"
        and "x86" in torch.backends.quantized.supported_engines
        and _pays(Int8Linear(_layer()), torch.float32)
    )


def _layer() -> nn.Linear:
    return nn.Linear(384, 1536).requires_grad_(False)


@torch.inference_mode()
def _pays(brief: nn.Module, given: torch.dtype) -> bool:
    """Takes 50 to 200 ms on a processor where nothing pays."""
    plain, x = packed(_layer()), torch.ones(128, 384)
    seconds = {plain: float("inf"), brief: float("inf")}
    for _ in range(6):  # in turn, so that a busy moment hits both
        for layer, rows in ((plain, x), (brief, x.to(given))):
            begin = time.perf_counter()
            layer(rows)
            seconds[layer] = min(seconds[layer], time.perf_counter() - begin)
    return seconds[plain] > WORTH * seconds[brief]


def fit(reader: Reader, precision: Precision) -> Reader:
    """The reader, changed in place to compute as told or as is fastest here. For reading only, it can't be trained on."""
    device = next(reader.parameters()).device
    if use_bfloat16(precision, device):
        return pack(reader.to(torch.bfloat16))
    reader = reader.to(torch.float32)
    if use_int8(precision, device):
        for layer in reader.layers:
            assert isinstance(layer, Layer)
            for name in ("qkv", "mix", "up", "down"):
                setattr(layer, name, Int8Linear(getattr(layer, name)))
    return pack(reader)


class Int8Linear(nn.Module):
    """A linear layer that multiplies in 8 bits: one scale an output of the weights, and for the inputs one scale and offset a
    row, so that a row's result is its own, whatever it is computed beside.

    Weights have 7 of the bits, lest the products of older processors overflow. Off by 1% to 6% in the shipped reader. With one
    scale for all rows the layers after a GELU were off by up to 33%, for a few rows hold values far beyond the others'.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scales = weight.abs().amax(1).clamp(min=1e-8) / 63
        with warnings.catch_warnings():
            # torch announces another way to make such tensors; as of 2.13 there is none that is as fast.
            warnings.filterwarnings("ignore", message=".*quantized tensor creation", category=UserWarning)
            zeros = torch.zeros(len(scales), dtype=torch.long)
            quantized = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self._sums = quantized.dequantize().sum(1)
        self._bias = linear.bias.detach()
        self._packed = torch.ops.quantized.linear_prepack(quantized, None)

    def forward(self, x: Tensor) -> Tensor:
        low, high = torch.aminmax(x, dim=-1, keepdim=True)
        span = (high - low).clamp(min=1e-12)
        # Every row reaches from 0 to 1, so the scale that is found for the whole is every row's.
        out: Tensor = torch.ops.quantized.linear_dynamic((x - low) / span, self._packed, False)
        return out.mul_(span).addcmul_(low, self._sums).add_(self._bias)
