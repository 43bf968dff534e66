"""Checkpoints as they come: sharded, of a clashing model type, cut short, renamed, foreign, too big."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from remask.dllm.checkpoints.family import family_of
from remask.dllm.checkpoints.folder import checkpoint_folder
from remask.dllm.checkpoints.load import load_network
from remask.dllm.checkpoints.memory import check_fits, parameters_of
from remask.dllm.checkpoints.names import Place, place
from remask.dllm.checkpoints.network import Network
from remask.dllm.errors import BackendUnavailable, WeightsUnusable
from torch import Tensor

from .folders import cases, config, weights, write

NAMES = ("llada", "lladamoe", "dream", "sdar", "llada2")


def test_two_families_that_call_themselves_llada_are_told_apart_by_their_experts() -> None:
    assert family_of(config("llada")).name == "llada"
    assert family_of(config("lladamoe")).name == "llada-moe"


def test_the_configs_own_mask_wins_over_the_familys() -> None:
    assert family_of(config("llada", mask_token_id=5)).mask_id == 5
    published = {"model_type": "llada", "embedding_size": 126464, "vocab_size": 126464}
    assert family_of(published).mask_id == 126336


def test_a_mask_outside_the_vocabulary_is_refused() -> None:
    with pytest.raises(WeightsUnusable, match="mask id 126336 and 128 words"):
        family_of({"model_type": "llada", "vocab_size": 128})


@pytest.mark.parametrize("kind", ["llama", "gpt2", ""])
def test_another_architecture_is_refused_by_its_name(kind: str) -> None:
    with pytest.raises(WeightsUnusable, match=f"model_type '{kind}'"):
        family_of({"model_type": kind, "vocab_size": 128})


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("llada", "alibi", True),
        ("llada", "block_type", "sequential"),
        ("llada", "include_bias", True),
        ("dream", "use_sliding_window", True),
        ("dream", "block_size", 32),
        ("lladamoe", "moe_router_enable_expert_bias", True),
        ("lladamoe", "shared_expert_intermediate_size", 64),
        ("llada2", "rope_scaling", {"type": "yarn", "factor": 4.0}),
    ],
)
def test_a_variant_that_the_network_cannot_express_is_refused_by_its_field(
    tmp_path: Path, name: str, field: str, value: Any
) -> None:
    with pytest.raises(WeightsUnusable, match=field):
        load_network(write(tmp_path, name, fields=config(name, **{field: value})))


def test_a_field_that_is_missing_is_named(tmp_path: Path) -> None:
    fields = config("llada")
    del fields["d_model"]
    with pytest.raises(WeightsUnusable, match="no field 'd_model'"):
        load_network(write(tmp_path, "llada", fields=fields))


def test_llada_names_go_to_llama_names_and_experts_into_one_tensor() -> None:
    assert place("llada", "model.transformer.blocks.11.ff_proj.weight") == Place("model.layers.11.mlp.gate_proj.weight")
    assert place("llada", "model.transformer.ff_out.weight") == Place("lm_head.weight")
    gate = place("llada-moe", "model.layers.0.mlp.experts.5.gate_proj.weight")
    assert gate == Place("model.layers.0.mlp.experts.gate_up_proj", 5, 0)
    assert place("llada2", "model.layers.1.mlp.shared_experts.up_proj.weight") == Place(
        "model.layers.1.mlp.shared_experts.up_proj.weight"
    )
    assert place("dream", "model.layers.0.self_attn.rotary_emb.inv_freq") is None


@pytest.mark.parametrize("name", NAMES)
def test_shards_hold_what_one_file_holds(tmp_path: Path, name: str) -> None:
    one, many = (load_network(write(tmp_path / str(n), name, shards=n)).network for n in (1, 4))
    for (key, a), (_, b) in zip(one.named_parameters(), many.named_parameters(), strict=True):
        assert torch.equal(a, b), key


def test_where_the_config_names_no_dtype_the_weights_keep_theirs(tmp_path: Path) -> None:
    halved = {key: value.bfloat16() for key, value in weights("llada").items()}
    assert Network(load_network(write(tmp_path, "llada", tensors=halved))).dtype == torch.bfloat16


def test_dtype_is_the_configs_unless_one_is_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, "llada", fields=config("llada", torch_dtype="bfloat16"))
    assert Network(load_network(folder)).dtype == torch.bfloat16
    assert Network(load_network(folder, dtype="float32")).dtype == torch.float32
    with pytest.raises(WeightsUnusable, match="dtype 'int4' is not read"):
        load_network(folder, dtype="int4")


def test_routers_keep_their_biases_in_float32(tmp_path: Path) -> None:
    network = load_network(write(tmp_path, "llada2"), dtype="bfloat16").network
    kinds = {p.dtype for key, p in network.named_parameters() if key.endswith("expert_bias")}
    assert kinds == {torch.float32}


@pytest.mark.parametrize(("name", "words"), [("sdar", "model.embed_tokens"), ("llada2", "model.word_embeddings")])
def test_tied_weights_are_read_once(tmp_path: Path, name: str, words: str) -> None:
    held = weights(name)
    held["lm_head.weight"] = held[f"{words}.weight"].clone()
    apart = Network(load_network(write(tmp_path / "apart", name, tensors=held))).logits(cases(name)["x"])
    del held["lm_head.weight"]
    fields = config(name, tie_word_embeddings=True)
    tied = Network(load_network(write(tmp_path / "tied", name, tensors=held, fields=fields)))
    assert torch.equal(tied.logits(cases(name)["x"]), apart)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, "llada", shards=3)
    (folder / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(WeightsUnusable, match=r"lacks 1 of 3 shards: model-00002-of-00003.safetensors"):
        load_network(folder)


@pytest.mark.parametrize("kept", [0, 5, 300, 100_000])
def test_a_file_that_was_cut_short_is_named(tmp_path: Path, kept: int) -> None:
    folder = write(tmp_path, "llada")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(WeightsUnusable, match=rf"model.safetensors is damaged or cut short \({kept} bytes\)"):
        load_network(folder)


def _renamed(held: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.replace("ln_f", "final_norm"): value for key, value in held.items()}


def test_a_renamed_key_is_named_on_both_sides(tmp_path: Path) -> None:
    folder = write(tmp_path, "llada", tensors=_renamed(weights("llada")))
    with pytest.raises(WeightsUnusable) as caught:
        load_network(folder)
    assert "model.norm.weight" in str(caught.value)
    assert "model.transformer.final_norm.weight" in str(caught.value)


def test_an_expert_that_is_missing_or_one_too_many_is_noticed(tmp_path: Path) -> None:
    held = weights("lladamoe")
    taken = held.pop("model.layers.1.mlp.experts.3.up_proj.weight")
    with pytest.raises(WeightsUnusable, match=r"model.layers.1.mlp.experts.gate_up_proj"):
        load_network(write(tmp_path / "less", "lladamoe", tensors=held))
    held |= {f"model.layers.1.mlp.experts.{n}.up_proj.weight": taken.clone() for n in (3, 8)}
    with pytest.raises(WeightsUnusable, match="one expert more than the 8"):
        load_network(write(tmp_path / "more", "lladamoe", tensors=held))


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match=r"asks for \(128, 64\)|asks for \(256, 64\)"):
        load_network(write(tmp_path, "dream", fields=config("dream", vocab_size=256)))


def test_quantised_weights_are_refused(tmp_path: Path) -> None:
    held = weights("llada")
    held["model.transformer.ln_f.weight"] = held["model.transformer.ln_f.weight"].to(torch.int8)
    with pytest.raises(WeightsUnusable, match=r"stored as torch.int8"):
        load_network(write(tmp_path, "llada", tensors=held))


def test_pickled_weights_are_not_opened(tmp_path: Path) -> None:
    folder = write(tmp_path, "llada")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WeightsUnusable, match="pickled weights can run code"):
        load_network(folder)


def test_a_folder_without_a_config_or_with_a_broken_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match=r"config.json is missing"):
        load_network(tmp_path)
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(WeightsUnusable, match=r"config.json is damaged"):
        load_network(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(WeightsUnusable, match="no JSON object"):
        load_network(tmp_path)


def test_what_does_not_fit_is_refused_before_reading_and_says_what_would(tmp_path: Path) -> None:
    folder = write(tmp_path, "llada")
    parameters = parameters_of(load_network(folder).network)
    (folder / "model.safetensors").unlink()
    with pytest.raises(BackendUnavailable, match="It would fit in bfloat16"):
        load_network(folder, dtype="float32", free=lambda device: parameters * 3)
    with pytest.raises(BackendUnavailable, match=r"What would fit: in float32 up to 0.0 billion parameters"):
        load_network(folder, dtype="float32", free=lambda device: parameters)


def test_memory_that_nobody_knows_is_tried() -> None:
    check_fits(10**15, torch.float32, torch.device("cpu"), free=None)


def test_an_id_without_a_network_says_what_to_do() -> None:
    with pytest.raises(BackendUnavailable, match="could not be downloaded"):
        checkpoint_folder("no-one/nothing-of-this-name", endpoint="http://127.0.0.1:9")


def test_neither_a_folder_nor_an_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="is no folder"):
        checkpoint_folder("/not/here/at all")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BackendUnavailable, match="is a file"):
        checkpoint_folder(str(tmp_path / "file"))
    assert checkpoint_folder(str(tmp_path)) == tmp_path
