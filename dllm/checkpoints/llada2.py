"""The network of LLaDA2.0 and 2.1: Ling's mixture of experts, read with whatever mask it is given.

Written from the reports and checked against the numbers of the official modelling file (inclusionAI/LLaDA2.X). Shaped like
transformers' own models where it matters: a trunk `model`, an `lm_head`, a `cache` with `update`.
"""

# B rows, L positions, T = B x L tokens, C channels, H heads, D head size, E experts, G groups, K experts of a token.

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True, slots=True, kw_only=True)
class LLaDA2Shape:
    """How big it is. `words` is the vocabulary; `dense_layers` come first and have no experts."""

    words: int
    channels: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    dense_channels: int
    dense_layers: int
    experts: int
    experts_per_token: int
    expert_channels: int
    shared_experts: int
    groups: int
    groups_per_token: int
    scale: float
    eps: float
    rope_theta: float
    rope_share: float
    tied: bool = False
    """Whether `lm_head` shares the embedding's weights. Whoever loads them ties them: moving a network unties it."""


class Keys(Protocol):
    """What attention writes its keys and values to, and gets all it may look at from."""

    def update(
        self, keys_BHLD: Tensor, values_BHLD: Tensor, layer: int, *more: Any, **named: Any
    ) -> tuple[Tensor, Tensor]: ...


class LLaDA2(nn.Module):
    """`model` is the trunk, `lm_head` the words."""

    def __init__(self, shape: LLaDA2Shape) -> None:
        super().__init__()
        self.model = Trunk(shape)
        self.lm_head = nn.Linear(shape.channels, shape.words, bias=False)


def in_dtype(network: LLaDA2, dtype: torch.dtype) -> LLaDA2:
    """The network in that precision, but for the routers' biases: rounding those would choose other experts."""
    network.to(dtype)
    for module in network.modules():
        if isinstance(module, Router):
            module.expert_bias.data = module.expert_bias.data.float()
    return network


class Trunk(nn.Module):
    def __init__(self, shape: LLaDA2Shape) -> None:
        super().__init__()
        self.shape = shape
        self.word_embeddings = nn.Embedding(shape.words, shape.channels)
        self.layers = nn.ModuleList(Layer(shape, index) for index in range(shape.layers))
        self.norm = nn.RMSNorm(shape.channels, eps=shape.eps)

    def forward(self, ids_BL: Tensor, mask_B1LL: Tensor, places_BL: Tensor, cache: Keys | None = None) -> Tensor:
        """The last layer's [B, L, C], normed. `mask_B1LL` is added to the scores."""
        x_BLC = self.word_embeddings(ids_BL)
        turns = _turns(self.shape, places_BL, x_BLC.dtype)
        for layer in self.layers:
            x_BLC = layer(x_BLC, mask_B1LL, turns, cache)
        out_BLC: Tensor = self.norm(x_BLC)
        return out_BLC


class Layer(nn.Module):
    def __init__(self, shape: LLaDA2Shape, index: int) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(shape.channels, eps=shape.eps)
        self.attention = Attention(shape, index)
        self.post_attention_layernorm = nn.RMSNorm(shape.channels, eps=shape.eps)
        dense = index < shape.dense_layers
        self.mlp = Gated(shape.channels, shape.dense_channels) if dense else Mixture(shape)

    def forward(self, x_BLC: Tensor, mask_B1LL: Tensor, turns: tuple[Tensor, Tensor], cache: Keys | None) -> Tensor:
        x_BLC = x_BLC + self.attention(self.input_layernorm(x_BLC), mask_B1LL, turns, cache)
        out_BLC: Tensor = x_BLC + self.mlp(self.post_attention_layernorm(x_BLC))
        return out_BLC


class Attention(nn.Module):
    """One projection holds the query heads, then the key heads, then the value heads. Queries and keys are normed per
    head before they are turned, and only the first share of every head turns."""

    def __init__(self, shape: LLaDA2Shape, index: int) -> None:
        super().__init__()
        self.shape, self.index = shape, index
        heads = shape.heads + 2 * shape.key_heads
        self.query_key_value = nn.Linear(shape.channels, heads * shape.head_size, bias=False)
        self.query_layernorm = nn.RMSNorm(shape.head_size, eps=shape.eps)
        self.key_layernorm = nn.RMSNorm(shape.head_size, eps=shape.eps)
        self.dense = nn.Linear(shape.heads * shape.head_size, shape.channels, bias=False)

    def forward(self, x_BLC: Tensor, mask_B1LL: Tensor, turns: tuple[Tensor, Tensor], cache: Keys | None) -> Tensor:
        s = self.shape
        all_BLHD = self.query_key_value(x_BLC).unflatten(-1, (-1, s.head_size))
        q_BLHD, k_BLHD, v_BLHD = all_BLHD.split((s.heads, s.key_heads, s.key_heads), dim=2)
        q_BHLD = _turn(self.query_layernorm(q_BLHD).transpose(1, 2), turns)
        k_BHLD = _turn(self.key_layernorm(k_BLHD).transpose(1, 2), turns)
        v_BHLD = v_BLHD.transpose(1, 2)
        if cache is not None:
            k_BHLD, v_BHLD = cache.update(k_BHLD, v_BHLD, self.index)
        repeats = s.heads // s.key_heads
        k_BHLD, v_BHLD = k_BHLD.repeat_interleave(repeats, 1), v_BHLD.repeat_interleave(repeats, 1)
        seen_BHLD = F.scaled_dot_product_attention(q_BHLD, k_BHLD, v_BHLD, attn_mask=mask_B1LL)
        out_BLC: Tensor = self.dense(seen_BHLD.transpose(1, 2).flatten(2))
        return out_BLC


class Gated(nn.Module):
    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(channels, inner, bias=False)
        self.up_proj = nn.Linear(channels, inner, bias=False)
        self.down_proj = nn.Linear(inner, channels, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Mixture(nn.Module):
    """The chosen experts of every token, and the shared one."""

    def __init__(self, shape: LLaDA2Shape) -> None:
        super().__init__()
        self.gate = Router(shape)
        self.experts = Experts(shape)
        inner = shape.shared_experts * shape.expert_channels
        self.shared_experts = Gated(shape.channels, inner) if inner else None

    def forward(self, x_BLC: Tensor) -> Tensor:
        x_TC = x_BLC.flatten(0, 1)
        out_TC = self.experts(x_TC, *self.gate(x_TC))
        if self.shared_experts is not None:
            out_TC = out_TC + self.shared_experts(x_TC)
        out_BLC: Tensor = out_TC.view_as(x_BLC)
        return out_BLC


class Router(nn.Module):
    """Groups first: those whose two best experts score highest together; then the best experts in them. `expert_bias`
    has a say in who is chosen, none in how much they weigh (DeepSeek-V3, arXiv 2412.19437, section 2.1.2)."""

    def __init__(self, shape: LLaDA2Shape) -> None:
        super().__init__()
        self.shape = shape
        self.weight = nn.Parameter(torch.zeros(shape.experts, shape.channels))
        self.expert_bias = nn.Parameter(torch.zeros(shape.experts, dtype=torch.float32), requires_grad=False)

    def forward(self, x_TC: Tensor) -> tuple[Tensor, Tensor]:
        """The experts [T, K] of every token and their weights [T, K]."""
        s = self.shape
        score_TE = F.linear(x_TC.float(), self.weight.float()).sigmoid()
        rank_TGE = (score_TE + self.expert_bias.float()).view(len(x_TC), s.groups, -1)
        group_TG = rank_TGE.topk(min(2, rank_TGE.shape[-1]), dim=-1).values.sum(-1)
        kept_TG = torch.zeros_like(group_TG).scatter(1, group_TG.topk(s.groups_per_token, dim=-1).indices, 1).bool()
        rank_TE = rank_TGE.masked_fill(~kept_TG[..., None], -torch.inf).flatten(1)
        chosen_TK = rank_TE.topk(s.experts_per_token, dim=-1).indices
        weight_TK = score_TE.gather(1, chosen_TK)
        if s.experts_per_token > 1:
            weight_TK = weight_TK / (weight_TK.sum(-1, keepdim=True) + 1e-20)
        return chosen_TK, weight_TK * s.scale


class Experts(nn.Module):
    """All experts of a layer in two tensors, the gates' rows before the ups', as transformers 5 keeps them."""

    def __init__(self, shape: LLaDA2Shape) -> None:
        super().__init__()
        E, inner, C = shape.experts, shape.expert_channels, shape.channels
        self.gate_up_proj = nn.Parameter(torch.empty(E, 2 * inner, C))
        self.down_proj = nn.Parameter(torch.empty(E, C, inner))

    def forward(self, x_TC: Tensor, chosen_TK: Tensor, weight_TK: Tensor) -> Tensor:
        out_TC = torch.zeros_like(x_TC)
        for expert in sorted(set(chosen_TK.flatten().tolist())):
            token, place = (chosen_TK == expert).nonzero(as_tuple=True)
            gate, up = F.linear(x_TC[token], self.gate_up_proj[expert]).chunk(2, dim=-1)
            said = F.linear(F.silu(gate) * up, self.down_proj[expert])
            out_TC.index_add_(0, token, (said * weight_TK[token, place, None]).to(out_TC.dtype))
        return out_TC


def _turns(shape: LLaDA2Shape, places_BL: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines [B, 1, L, turned size], computed in float32."""
    size = int(shape.head_size * shape.rope_share)
    steps = torch.arange(0, size, 2, dtype=torch.float32, device=places_BL.device) / size
    angle_BL = places_BL[..., None].float() / shape.rope_theta**steps
    angle_B1L = torch.cat((angle_BL, angle_BL), dim=-1)[:, None]
    return angle_B1L.cos().to(dtype), angle_B1L.sin().to(dtype)


def _turn(x_BHLD: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = turns
    size = cos.shape[-1]
    moved, kept = x_BHLD[..., :size], x_BHLD[..., size:]
    low, high = moved.chunk(2, dim=-1)
    return torch.cat((moved * cos + torch.cat((-high, low), dim=-1) * sin, kept), dim=-1)
