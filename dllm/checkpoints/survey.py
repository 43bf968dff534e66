"""What a checkpoint is and whether it fits, told before any of its weights is read."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from ..errors import BackendUnavailable, WeightsUnusable
from .family import family_of
from .folder import checkpoint_folder
from .gemma import MODEL_TYPE, empty_gemma
from .load import build_network, dtype_of
from .memory import check_fits, free_bytes, needed_bytes, parameters_of
from .shards import read_json, shard_paths
from .translate import native_config


class Survey(NamedTuple):
    """`needed` and `free` are bytes; `free` is None where the system doesn't say."""

    family: str
    parameters: int
    dtype: str
    device: str
    needed: int
    free: int | None

    def __str__(self) -> str:
        room = "nobody knows what is free" if self.free is None else f"{self.device} has {self.free / 1e9:.1f} GB free"
        size = (
            f"{self.parameters / 1e9:.1f} billion" if self.parameters >= 1e8 else f"{self.parameters / 1e6:.1f} million"
        )
        return (
            f"{self.family}, {size} parameters in {self.dtype}; needs {self.needed / 1e9:.1f} GB, and {room}: it fits"
        )


def survey(
    path_or_id: str,
    *,
    family: str = "",
    device: str = "",
    free: Callable[[torch.device], int | None] = free_bytes,
) -> Survey:
    """Reads config.json, and looks whether the weights' files are there. Downloads nothing.

    Raises BackendUnavailable for what isn't here, is of another family, or can't fit (and says what would), WeightsUnusable
    for what is incomplete or of a foreign architecture.
    """
    folder = checkpoint_folder(path_or_id, download=False)
    shard_paths(folder)
    found, network, dtype = _described(folder)
    if family and found.removesuffix("-moe") != family.removesuffix("-moe"):
        raise BackendUnavailable(
            f"{path_or_id!r} is a {found} checkpoint, not a {family}. Ask for {found}:{path_or_id}"
        )
    target = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    parameters, there = parameters_of(network), free(target)
    check_fits(parameters, dtype, target, free=there)
    name = str(dtype).removeprefix("torch.")
    return Survey(found, parameters, name, str(target), needed_bytes(parameters, dtype), there)


def _described(folder: Path) -> tuple[str, nn.Module, torch.dtype]:
    """The family, the network with no memory behind it, and its dtype."""
    config, where = read_json(folder / "config.json"), str(folder / "config.json")
    if config.get("model_type") == MODEL_TYPE:
        return "diffusiongemma", *empty_gemma(config, where=where)
    family = family_of(config, where=where)
    dtype = dtype_of(config, folder)
    try:
        return family.name, build_network(native_config(config, family, where=where), family, dtype), dtype
    except (TypeError, ValueError, RuntimeError) as error:
        raise WeightsUnusable(f"{where} describes no network that can be built: {error}") from error
