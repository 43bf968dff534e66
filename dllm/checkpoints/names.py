"""Where each published tensor goes in the native network. Names only; nothing here reads a file."""

import re
from typing import NamedTuple

from .family import FamilyName


class Place(NamedTuple):
    """A parameter of the native network, and the part of it that the tensor fills.

    `expert`: its first index, where experts are kept in one tensor; `half`: 0 for the gate's rows, 1 for the up's.
    """

    parameter: str
    expert: int | None = None
    half: int | None = None


_LLADA = {
    "attn_norm": "input_layernorm",
    "ff_norm": "post_attention_layernorm",
    "q_proj": "self_attn.q_proj",
    "k_proj": "self_attn.k_proj",
    "v_proj": "self_attn.v_proj",
    "attn_out": "self_attn.o_proj",
    "ff_proj": "mlp.gate_proj",
    "up_proj": "mlp.up_proj",
    "ff_out": "mlp.down_proj",
}
_LLADA_TOP = {"wte": "model.embed_tokens", "ln_f": "model.norm", "ff_out": "lm_head"}
_BLOCK = re.compile(r"model\.transformer\.blocks\.(\d+)\.(\w+)\.(weight|bias)")
_TOP = re.compile(r"model\.transformer\.(\w+)\.(weight|bias)")
_EXPERT = re.compile(r"(.+\.mlp\.experts)\.(\d+)\.(gate|up|down)_proj\.weight")
_COMPUTED = re.compile(r".*rotary_emb\.(inv_freq|cos_cached|sin_cached)")


def place(family: FamilyName, published: str) -> Place | None:
    """None for what the network computes by itself. A name that the family doesn't have goes to itself, so that the
    loader can say that it is unknown.

    >>> place("llada", "model.transformer.blocks.3.attn_out.weight").parameter
    'model.layers.3.self_attn.o_proj.weight'
    >>> place("llada2", "model.layers.1.mlp.experts.7.up_proj.weight")
    Place(parameter='model.layers.1.mlp.experts.gate_up_proj', expert=7, half=1)
    """
    if _COMPUTED.fullmatch(published):
        return None
    if family == "llada":
        return Place(_llada(published))
    expert = _EXPERT.fullmatch(published)
    if expert is None:
        return Place(published)
    experts, index, kind = expert.groups()
    if kind == "down":
        return Place(f"{experts}.down_proj", int(index))
    return Place(f"{experts}.gate_up_proj", int(index), 0 if kind == "gate" else 1)


def _llada(published: str) -> str:
    block, top = _BLOCK.fullmatch(published), _TOP.fullmatch(published)
    if block and block[2] in _LLADA:
        return f"model.layers.{block[1]}.{_LLADA[block[2]]}.{block[3]}"
    if top and top[1] in _LLADA_TOP:
        return f"{_LLADA_TOP[top[1]]}.{top[2]}"
    return published
