"""Whether a network fits before any of it is read."""

from pathlib import Path

import torch
from torch import nn

from ..errors import BackendUnavailable

_DTYPES = (torch.float32, torch.bfloat16)
_SPARE = 1.1
"""Room for what is computed beside the weights."""


def parameters_of(network: nn.Module) -> int:
    """Numbers in a network, shared ones once; a network on the meta device will do."""
    return sum(p.numel() for p in network.parameters())


def free_bytes(device: torch.device) -> int | None:
    """Memory that is free on a device; None where the system doesn't say."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def needed_bytes(parameters: int, dtype: torch.dtype) -> int:
    """With what is computed beside the weights."""
    return int(parameters * dtype.itemsize * _SPARE)


def check_fits(parameters: int, dtype: torch.dtype, device: torch.device, *, free: int | None) -> None:
    """Raises BackendUnavailable, saying what would fit. `free` None: nobody knows, so it is tried.

    >>> check_fits(8_000_000_000, torch.float32, torch.device("cpu"), free=24 * 10**9)
    Traceback (most recent call last):
    ...
    remask.dllm.errors.BackendUnavailable: 8.0 billion parameters in float32 need 35.2 GB with what is computed beside \
them, and cpu has 24.0 GB free. It would fit in bfloat16; in float32 up to 5.5 billion parameters would
    """
    if free is None or needed_bytes(parameters, dtype) <= free:
        return
    smaller = [d for d in _DTYPES if d.itemsize < dtype.itemsize and needed_bytes(parameters, d) <= free]
    most = f"in {_name(dtype)} up to {free / dtype.itemsize / _SPARE / 1e9:.1f} billion parameters would"
    fits = f"It would fit in {_name(smaller[0])}; {most}" if smaller else f"What would fit: {most}"
    raise BackendUnavailable(
        f"{parameters / 1e9:.1f} billion parameters in {_name(dtype)} need "
        f"{needed_bytes(parameters, dtype) / 1e9:.1f} GB with what is computed beside them, and {device} has "
        f"{free / 1e9:.1f} GB free. {fits}"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
