"""The configs of published checkpoints, as they lie on the hub, and the size of the networks built from them."""

from typing import Any

import pytest
import torch
from remask.dllm.checkpoints.family import family_of
from remask.dllm.checkpoints.llada2 import LLaDA2Shape
from remask.dllm.checkpoints.load import build_network
from remask.dllm.checkpoints.memory import parameters_of
from remask.dllm.checkpoints.translate import native_config, window_of

LLADA_8B = {
    "activation_type": "silu",
    "alibi": False,
    "attention_layer_norm": False,
    "block_type": "llama",
    "d_model": 4096,
    "embedding_size": 126464,
    "include_bias": False,
    "include_qkv_bias": False,
    "input_emb_norm": False,
    "layer_norm_type": "rms",
    "mask_token_id": 126336,
    "max_sequence_length": 4096,
    "mlp_hidden_size": 12288,
    "model_type": "llada",
    "multi_query_attention": None,
    "n_heads": 32,
    "n_kv_heads": 32,
    "n_layers": 32,
    "rms_norm_eps": 1e-05,
    "rope": True,
    "rope_theta": 500000.0,
    "scale_logits": False,
    "vocab_size": 126464,
    "weight_tying": False,
}
DREAM_7B = {
    "model_type": "Dream",
    "hidden_act": "silu",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "mask_token_id": 151666,
    "max_position_embeddings": 131072,
    "num_attention_heads": 28,
    "num_hidden_layers": 28,
    "num_key_value_heads": 4,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "tie_word_embeddings": False,
    "use_mrope": False,
    "use_sliding_window": False,
    "vocab_size": 152064,
}
SDAR_4B = {
    "model_type": "sdar",
    "attention_bias": False,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "max_position_embeddings": 32768,
    "num_attention_heads": 32,
    "num_hidden_layers": 36,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000,
    "tie_word_embeddings": False,
    "vocab_size": 151936,
}
LLADA2_MINI = {
    "model_type": "llada2_moe",
    "first_k_dense_replace": 1,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "intermediate_size": 5120,
    "max_position_embeddings": 16384,
    "moe_intermediate_size": 512,
    "moe_router_enable_expert_bias": True,
    "n_group": 8,
    "norm_head": False,
    "norm_topk_prob": True,
    "num_attention_heads": 16,
    "num_experts": 256,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 20,
    "num_key_value_heads": 4,
    "num_shared_experts": 1,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 600000,
    "rotary_dim": 64,
    "routed_scaling_factor": 2.5,
    "score_function": "sigmoid",
    "tie_word_embeddings": False,
    "topk_group": 4,
    "use_bias": False,
    "use_qkv_bias": False,
    "use_rmsnorm": True,
    "use_sliding_window": False,
    "vocab_size": 157184,
}


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (LLADA_8B, 16_031_162_368 // 2),  # bytes of its shards in bfloat16, by its index
        (SDAR_4B, 8_822_848_512 // 2),
        (DREAM_7B, 7_615_616_512),  # Qwen2.5-7B
        (LLADA2_MINI, 16_255_643_392),
    ],
)
def test_a_published_config_builds_a_network_of_the_published_size(config: dict[str, Any], parameters: int) -> None:
    family = family_of(config)
    network = build_network(native_config(config, family), family, torch.bfloat16)
    assert all(p.is_meta for p in network.parameters())
    assert parameters_of(network) == parameters


def test_llada_8b_is_a_llama_with_heads_of_128() -> None:
    native = native_config(LLADA_8B, family_of(LLADA_8B))
    assert not isinstance(native, LLaDA2Shape)
    assert (native.hidden_size, native.intermediate_size, native.num_hidden_layers) == (4096, 12288, 32)
    assert native.rope_parameters == {"rope_type": "default", "rope_theta": 500000.0}
    assert family_of(LLADA_8B).mask_id == 126336


def test_llada2_turns_half_of_every_head_whichever_field_says_so() -> None:
    by_share = native_config(LLADA2_MINI, family_of(LLADA2_MINI))
    fields = {k: v for k, v in LLADA2_MINI.items() if k != "partial_rotary_factor"}
    by_size = native_config(fields, family_of(fields))
    assert isinstance(by_share, LLaDA2Shape)
    assert by_share.rope_share == 0.5
    assert by_share == by_size
    assert family_of(LLADA2_MINI).mask_id == 156895


def test_dream_is_not_asked_to_read_more_than_it_was_trained_on() -> None:
    assert window_of(DREAM_7B, family_of(DREAM_7B)) == 2048
    assert window_of(LLADA_8B, family_of(LLADA_8B)) == 4096
