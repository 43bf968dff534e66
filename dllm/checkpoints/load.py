"""A checkpoint folder in, a network ready to run out. No code from the checkpoint is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedConfig, Qwen2ForCausalLM, Qwen3ForCausalLM, Qwen3MoeForCausalLM

from ..errors import WeightsUnusable
from .family import Family, family_of
from .llada2 import LLaDA2, LLaDA2Shape, in_dtype
from .memory import check_fits, free_bytes, parameters_of
from .names import Place, place
from .shards import read_json, stored_dtype, tensors
from .translate import native_config, window_of

_CLASSES: dict[str, Any] = {
    "llada": LlamaForCausalLM,
    "llada-moe": Qwen3MoeForCausalLM,
    "dream": Qwen2ForCausalLM,
    "sdar": Qwen3ForCausalLM,
}
_DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A network in evaluation mode, and what has to be known to run it."""

    family: Family
    network: nn.Module
    window: int
    """Positions that the checkpoint was made for."""


def load_network(
    folder: Path,
    *,
    dtype: str = "",
    device: str = "cpu",
    free: Callable[[torch.device], int | None] = free_bytes,
) -> Loaded:
    """Reads config.json and the safetensors of a folder. `dtype`: float32, float16 or bfloat16; empty: what the config
    says, or else what the weights are kept in.

    Raises WeightsUnusable for what is damaged, missing or of another architecture, BackendUnavailable where it can't fit.
    """
    config = read_json(folder / "config.json")
    where = str(folder / "config.json")
    family = family_of(config, where=where)
    kind = dtype_of(config, folder, dtype)
    native = native_config(config, family, where=where)
    target = torch.device(device)
    network = build_network(native, family, kind)
    check_fits(parameters_of(network), kind, target, free=free(target))
    network = _tied(network.to_empty(device=target), native)
    _fill(network, family, folder)
    if isinstance(native, PreTrainedConfig):
        # Angles are computed, not stored, and what was computed on the meta device is empty.
        trunk: Any = network.model
        trunk.rotary_emb = type(trunk.rotary_emb)(config=native).to(target)
    return Loaded(family, network.eval().requires_grad_(False), window_of(config, family))


def dtype_of(config: Mapping[str, Any], folder: Path, dtype: str = "") -> torch.dtype:
    """What a checkpoint is loaded in where `dtype` doesn't say it. Raises WeightsUnusable for one that is not read."""
    kind = dtype or str(config.get("torch_dtype") or config.get("dtype") or stored_dtype(folder))
    if kind not in _DTYPES:
        raise WeightsUnusable(f"dtype {kind!r} is not read. Choose one of {', '.join(_DTYPES)}")
    return _DTYPES[kind]


def build_network(native: PreTrainedConfig | LLaDA2Shape, family: Family, dtype: torch.dtype) -> nn.Module:
    """The network with no memory behind it."""
    with torch.device("meta"):
        if isinstance(native, LLaDA2Shape):
            return _tied(in_dtype(LLaDA2(native), dtype), native)
        native._attn_implementation = "sdpa"
        network: nn.Module = _CLASSES[family.name](native)
        return _tied(network.to(dtype), native)


def _tied(network: nn.Module, native: PreTrainedConfig | LLaDA2Shape) -> nn.Module:
    """The network, its head sharing the embedding's weights where the config says so. Moving a network unties it."""
    parts: Any = network
    if isinstance(native, LLaDA2Shape):
        if native.tied:
            parts.lm_head.weight = parts.model.word_embeddings.weight
    elif native.tie_word_embeddings:
        parts.lm_head.weight = parts.model.embed_tokens.weight
    return network


def _fill(network: nn.Module, family: Family, folder: Path) -> None:
    """Copies every tensor to its place; names what is left over and what is left empty."""
    parameters = dict(network.named_parameters(remove_duplicate=False))
    empty = {spot for name, parameter in parameters.items() for spot in _spots(name, parameter)}
    unknown: list[str] = []
    for name, tensor in tensors(folder):
        spot = place(family.name, name)
        if spot is None:
            continue
        if spot.parameter not in parameters:
            unknown.append(name)
            continue
        _copy(_slot(parameters[spot.parameter], spot, name, folder), tensor, name, folder)
        empty -= {spot._replace(parameter=each) for each in _sharing(parameters, spot.parameter)}
    if unknown or empty:
        lacking = [_spelled(spot) for spot in empty]
        raise WeightsUnusable(
            f"{folder} does not fit its config.json: {len(empty)} parameters got no weights ({_few(lacking)}), and "
            f"{len(unknown)} tensors have no place ({_few(unknown)}). Was a key renamed, or a config changed?"
        )


def _spots(name: str, parameter: nn.Parameter) -> list[Place]:
    """The published tensors that a parameter is made of."""
    if name.endswith("experts.gate_up_proj"):
        return [Place(name, expert, half) for expert in range(parameter.shape[0]) for half in (0, 1)]
    if name.endswith("experts.down_proj"):
        return [Place(name, expert) for expert in range(parameter.shape[0])]
    return [Place(name)]


def _sharing(parameters: dict[str, nn.Parameter], name: str) -> list[str]:
    """Every name of a parameter: tied ones are filled under either."""
    if not name.endswith(("lm_head.weight", "embed_tokens.weight", "word_embeddings.weight")):
        return [name]
    return [other for other, parameter in parameters.items() if parameter is parameters[name]]


def _spelled(spot: Place) -> str:
    if spot.expert is None:
        return spot.parameter
    return f"{spot.parameter}[{spot.expert}]" + ("" if spot.half is None else (" gate", " up")[spot.half])


def _slot(parameter: nn.Parameter, spot: Place, name: str, folder: Path) -> Tensor:
    if spot.expert is None:
        return parameter.data
    if spot.expert >= parameter.shape[0]:
        experts = f"the {parameter.shape[0]} of its config.json"
        raise WeightsUnusable(f"{name!r} in {folder} is one expert more than {experts}")
    whole = parameter.data[spot.expert]
    return whole if spot.half is None else whole.chunk(2, dim=0)[spot.half]


def _copy(slot: Tensor, tensor: Tensor, name: str, folder: Path) -> None:
    if slot.shape != tensor.shape:
        raise WeightsUnusable(
            f"{name!r} in {folder} is {tuple(tensor.shape)}, and its config.json asks for {tuple(slot.shape)}. "
            f"The weights are of another model"
        )
    slot.copy_(tensor)


def _few(names: list[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "") if names else "none"
