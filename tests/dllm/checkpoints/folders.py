"""Checkpoint folders, written to disk from the golden numbers or at random."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

GOLDEN = Path(__file__).parent / "golden"
MODEL_TYPES = {
    "llada": "llada",
    "lladamoe": "llada",
    "dream": "Dream",
    "sdar": "sdar",
    "llada2": "llada2_moe",
    "llada21": "llada2_moe",
}
MASK = 126


def cases(name: str) -> dict[str, Tensor]:
    """Inputs, official logits and official samples of a family."""
    tensors = load_file(GOLDEN / f"{name}.safetensors")
    return {key.removeprefix("case."): value for key, value in tensors.items() if key.startswith("case.")}


def weights(name: str) -> dict[str, Tensor]:
    """Weights under their published names."""
    tensors = load_file(GOLDEN / f"{name}.safetensors")
    return {key.removeprefix("weights."): value for key, value in tensors.items() if key.startswith("weights.")}


def config(name: str, **changes: Any) -> dict[str, Any]:
    """A config.json as a hub has it: the golden configuration, its model type and its mask."""
    fields = json.loads((GOLDEN / "configs.json").read_text(encoding="utf-8"))[name]
    return {"mask_token_id": MASK, **fields, "model_type": MODEL_TYPES[name], **changes}


def more() -> dict[str, dict[str, Any]]:
    """Further shapes of each family that its official code (transformers 4.57.6, torch 2.13) was run in: few key heads, many
    positions, padding at the left. Their weights are `drawn`; the logits kept are those of the last eight columns."""
    return dict(json.loads((GOLDEN / "more.json").read_text(encoding="utf-8")))


def more_cases(name: str) -> dict[str, Tensor]:
    """`x`, `logits`, and where there are such `valid` and `bfloat16`, of FAMILY.KIND.SEED."""
    tensors = load_file(GOLDEN / "more.safetensors")
    found = {key.removeprefix(f"{name}."): value for key, value in tensors.items() if key.startswith(f"{name}.")}
    return {**found, "x": found["x"].long()}


def drawn(shapes: dict[str, list[int]], seed: int) -> dict[str, Tensor]:
    """Random weights by name, the same on every machine: norms about one, biases small."""
    random = np.random.RandomState(seed)  # whose numbers are promised never to change
    made = {}
    for name in sorted(shapes):
        noise = torch.from_numpy(random.standard_normal(shapes[name]).astype(np.float32))
        scale = 0.02 if noise.ndim == 1 else 0.08
        made[name] = 1 + 0.1 * noise if noise.ndim == 1 and ("norm" in name or "ln_f" in name) else scale * noise
    return made


def write(
    folder: Path,
    name: str,
    *,
    shards: int = 1,
    tensors: dict[str, Tensor] | None = None,
    fields: dict[str, Any] | None = None,
) -> Path:
    """A checkpoint folder of one file, or of several and an index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields or config(name)), encoding="utf-8")
    held = weights(name) if tensors is None else tensors
    if shards == 1:
        save_file(held, folder / "model.safetensors")
        return folder
    places = {key: f"model-{1 + i % shards:05}-of-{shards:05}.safetensors" for i, key in enumerate(sorted(held))}
    for file in set(places.values()):
        save_file({key: held[key] for key, shard in places.items() if shard == file}, folder / file)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return folder


def prompts(name: str) -> list[list[int]]:
    """What the official samplers were given: the first six columns."""
    rows: list[list[int]] = cases(name)["x"][:, :6].tolist()
    return rows


def blank(rows: int, slots: int = 12) -> Tensor:
    return torch.full((rows, slots), MASK)
