"""DiffusionGemma at random and tiny: two layers, one that slides and one that sees all, experts, a vision tower."""

from pathlib import Path
from typing import Any

import torch
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

CANVAS = 8


def network(*, words: int = 96, seed: int = 0, window: int = 8, loud: float = 1.0, canvas: int = CANVAS) -> Any:
    """`loud` scales the embedding, which is the head too: a loud network is sure of itself."""
    text = {
        "vocab_size": words,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "global_head_dim": 16,
        "num_experts": 4,
        "top_k_experts": 2,
        "moe_intermediate_size": 16,
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": window,
        "max_position_embeddings": 2048,
        "pad_token_id": 0,
        "eos_token_id": None,
        "initializer_range": 0.3,
    }
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "patch_size": 4,
    }
    torch.manual_seed(seed)
    held = DiffusionGemmaForBlockDiffusion(
        DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=canvas)
    )
    with torch.no_grad():
        held.model.decoder.embed_tokens.weight.mul_(loud)
    return held.eval()


def folder(where: Path, **shape: Any) -> Path:
    """A published folder."""
    network(**shape).save_pretrained(where)
    return where
