"""Published config.json fields, translated into the configs of transformers' own Llama, Qwen2, Qwen3 and Qwen3-MoE.

A field that those networks can't express is refused by name: a silent default would give wrong numbers, not an error.
"""

from collections.abc import Callable, Mapping
from typing import Any

from transformers import LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config, Qwen3MoeConfig

from ..errors import WeightsUnusable
from .family import Family
from .llada2 import LLaDA2Shape

Fields = Mapping[str, Any]


def native_config(config: Fields, family: Family, *, where: str = "config.json") -> PreTrainedConfig | LLaDA2Shape:
    """The config of the native network. Raises WeightsUnusable, naming the field, where there is none."""
    makers: dict[str, Callable[[Fields, str], PreTrainedConfig | LLaDA2Shape]]
    makers = {"llada": _llada, "llada-moe": _llada_moe, "dream": _dream, "sdar": _sdar, "llada2": _llada2}
    try:
        return makers[family.name](config, where)
    except KeyError as error:
        raise WeightsUnusable(f"{where} has no field {error.args[0]!r}, which {family.name} needs") from error


def window_of(config: Fields, family: Family) -> int:
    """How many positions the config names; 4096, what LLaDA was trained on, where it names none. Dream's inherits Qwen2.5's
    131,072, and was trained on 2048 (DreamLM/Dream, README)."""
    named = int(config.get("max_sequence_length") or config.get("max_position_embeddings") or 4096)
    return min(named, 2048) if family.name == "dream" else named


def _llada(config: Fields, where: str) -> PreTrainedConfig:
    """LLaDA is a Llama under OLMo's field names. `embedding_size` is `vocab_size` padded up, and wins."""
    wanted = {"block_type": "llama", "layer_norm_type": "rms", "activation_type": "silu", "rope": True}
    refused = ("alibi", "attention_layer_norm", "include_bias", "scale_logits", "input_emb_norm", "clip_qkv")
    _expect(config, where, wanted | dict.fromkeys(refused))
    if config.get("include_qkv_bias"):
        # A Llama's attention_bias would add one to the output projection too.
        raise WeightsUnusable(f"{where} has include_qkv_bias, which no published LLaDA has and is not read here")
    return LlamaConfig(
        vocab_size=config.get("embedding_size") or config["vocab_size"],
        hidden_size=config["d_model"],
        intermediate_size=config["mlp_hidden_size"],
        num_hidden_layers=config["n_layers"],
        num_attention_heads=config["n_heads"],
        num_key_value_heads=config.get("n_kv_heads") or config["n_heads"],
        max_position_embeddings=config["max_sequence_length"],
        rms_norm_eps=config.get("rms_norm_eps", 1e-5),
        tie_word_embeddings=config.get("weight_tying", False),
        rope_parameters=_rope(config, where),
    )


def _dream(config: Fields, where: str) -> PreTrainedConfig:
    _expect(config, where, {"hidden_act": "silu"} | dict.fromkeys(("use_sliding_window", "use_mrope", "block_size")))
    return Qwen2Config(**_qwen(config, where))


def _sdar(config: Fields, where: str) -> PreTrainedConfig:
    _expect(config, where, {"hidden_act": "silu", "use_sliding_window": None})
    return Qwen3Config(
        **_qwen(config, where),
        head_dim=config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
        attention_bias=config.get("attention_bias", False),
    )


def _llada_moe(config: Fields, where: str) -> PreTrainedConfig:
    """Qwen3-MoE has no shared expert, and no expert bias: the official code adds that to the routing weights too."""
    refused = ("shared_expert_intermediate_size", "moe_router_enable_expert_bias", "attention_bias")
    same = {"qk_layernorm": True, "moe_router_score_function": "softmax", "partial_rotary_factor": 1.0}
    _expect(config, where, same | {"hidden_act": "silu"} | dict.fromkeys(refused))
    if config.get("routed_scaling_factor") not in (None, 1, 1.0):
        raise WeightsUnusable(f"{where} has routed_scaling_factor {config['routed_scaling_factor']!r}; only 1 is read")
    sparse = config.get("moe_layer_freq") or [1] * config["num_hidden_layers"]
    fields = {
        **_qwen({"rms_norm_eps": 1e-5, "intermediate_size": config.get("dense_intermediate_size", 0), **config}, where),
        "head_dim": config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
        "num_experts": config["num_experts"],
        "num_experts_per_tok": config["num_experts_per_tok"],
        "moe_intermediate_size": config["expert_intermediate_size"],
        "norm_topk_prob": config.get("norm_topk_prob") or False,
        "mlp_only_layers": [layer for layer, experts in enumerate(sparse) if not experts],
    }
    return Qwen3MoeConfig(**fields)


def _llada2(config: Fields, where: str) -> LLaDA2Shape:
    refused = ("use_bias", "use_qkv_bias", "norm_head", "rope_scaling", "use_sliding_window")
    _expect(
        config,
        where,
        {"hidden_act": "silu", "score_function": "sigmoid", "norm_topk_prob": True, "use_rmsnorm": True}
        | dict.fromkeys(refused),
    )
    heads = config["num_attention_heads"]
    size = config.get("head_dim") or config["hidden_size"] // heads
    return LLaDA2Shape(
        words=config["vocab_size"],
        channels=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        key_heads=config.get("num_key_value_heads") or heads,
        head_size=size,
        dense_channels=config["intermediate_size"],
        dense_layers=config.get("first_k_dense_replace", 0),
        experts=config["num_experts"],
        experts_per_token=config["num_experts_per_tok"],
        expert_channels=config["moe_intermediate_size"],
        shared_experts=config.get("num_shared_experts") or 0,
        groups=config.get("n_group", 1),
        groups_per_token=config.get("topk_group", 1),
        scale=config.get("routed_scaling_factor", 2.5),
        eps=config.get("rms_norm_eps", 1e-6),
        rope_theta=config["rope_theta"],
        rope_share=config.get("partial_rotary_factor") or config.get("rotary_dim", size) / size,
        tied=config.get("tie_word_embeddings", False),
    )


def _qwen(config: Fields, where: str) -> dict[str, Any]:
    """What all Qwen configs have in common."""
    same = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    return {
        **{name: config[name] for name in same},
        "num_key_value_heads": config.get("num_key_value_heads") or config["num_attention_heads"],
        "max_position_embeddings": config.get("max_position_embeddings", 32768),
        "rms_norm_eps": config.get("rms_norm_eps", 1e-6),
        "tie_word_embeddings": config.get("tie_word_embeddings", False),
        "rope_parameters": _rope(config, where),
    }


def _rope(config: Fields, where: str) -> dict[str, Any]:
    """transformers 5 keeps the base and the scaling together; published configs have them apart."""
    scaling = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    theta = scaling.get("rope_theta", config.get("rope_theta"))
    if theta is None or theta <= 0:
        raise WeightsUnusable(
            f"{where} has rope_theta {theta!r}. Give it the positive base that the model was trained with"
        )
    kind = scaling.pop("type", None) or scaling.get("rope_type") or "default"
    return {**scaling, "rope_type": kind, "rope_theta": float(theta)}


def _expect(config: Fields, where: str, wanted: Mapping[str, Any]) -> None:
    """Refuses a field that is there and says something else. Wanted None stands for anything empty."""
    for name, value in wanted.items():
        if name in config and config[name] != value and (config[name] or value is not None):
            raise WeightsUnusable(
                f"{where} has {name} {config[name]!r}, and only {value!r} is read here. The weights are of a variant "
                f"that this version doesn't know"
            )
