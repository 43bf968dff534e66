"""Tensors out of a checkpoint folder, one at a time, so that loading never holds the weights twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import WeightsUnusable

INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"
_READ = (torch.float32, torch.float16, torch.bfloat16)


def read_json(path: Path) -> dict[str, Any]:
    """Raises WeightsUnusable where the file is missing or holds no JSON object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsUnusable(f"{path} is missing. Give the folder of a whole checkpoint") from error
    except (OSError, ValueError) as error:
        raise WeightsUnusable(f"{path} is damaged: {error}. Download it again") from error
    if not isinstance(value, dict):
        raise WeightsUnusable(f"{path} holds no JSON object. Download it again")
    return value


def shard_paths(folder: Path) -> list[Path]:
    """The weight files of a checkpoint, in order. Raises WeightsUnusable where one that the index names is not there."""
    if (folder / INDEX).is_file():
        names = read_json(folder / INDEX).get("weight_map")
        if not isinstance(names, dict) or not names:
            raise WeightsUnusable(f"{folder / INDEX} names no shards. Download it again")
        shards = sorted({str(name) for name in names.values()})
        missing = [name for name in shards if not (folder / name).is_file()]
        if missing:
            raise WeightsUnusable(
                f"{folder} lacks {len(missing)} of {len(shards)} shards: {', '.join(missing[:3])}. Download them"
            )
        return [folder / name for name in shards]
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    other = sorted(path.name for path in folder.glob("*.bin"))
    hint = f" It has {other[0]!r}: pickled weights can run code and are not read." if other else ""
    raise WeightsUnusable(f"{folder} has neither {INDEX!r} nor {SINGLE!r}.{hint} Download the safetensors files")


def tensors(folder: Path) -> Iterator[tuple[str, Tensor]]:
    """Every tensor with its published name. Raises WeightsUnusable for a damaged file and for quantised weights."""
    for path in shard_paths(folder):
        try:
            with safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118 - not a dict
                    yield name, _checked(file.get_tensor(name), name, path)
        except (SafetensorError, OSError) as error:
            size = path.stat().st_size
            raise WeightsUnusable(
                f"{path} is damaged or cut short ({size} bytes): {error}. Download it again"
            ) from error


def stored_dtype(folder: Path) -> str:
    """What the first tensor is kept in, e.g. `bfloat16`. LLaDA's config.json doesn't say."""
    return next((str(tensor.dtype).removeprefix("torch.") for _, tensor in tensors(folder)), "float32")


def _checked(tensor: Tensor, name: str, path: Path) -> Tensor:
    if tensor.dtype not in _READ:
        raise WeightsUnusable(
            f"{name!r} in {path} is stored as {tensor.dtype}; float32, float16 and bfloat16 are read. "
            f"Give the checkpoint that is not quantised"
        )
    return tensor
