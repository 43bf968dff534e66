"""A real GGUF file that is known by heart: a network whose blocks add nothing, so that each byte names the next one."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

WIDTH, HEADS = 320, 5  # wide enough for a direction a token
SPECIAL = ("<unk>", "<s>", "</s>")
END = 2


def spelling(path: Path, nexts: Mapping[str, str], *, context: int = 512, template: str = "") -> Path:
    """A model that writes after each character the one given for it, and ends after any other."""
    import gguf

    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(context)
    file.add_embedding_length(WIDTH)
    file.add_block_count(1)
    file.add_feed_forward_length(64)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list(tokens)
    file.add_token_scores([0.0] * len(tokens))
    file.add_token_types([2, 3, 3, *[6] * 256])  # unknown, control, bytes
    file.add_bos_token_id(1)
    file.add_eos_token_id(END)
    file.add_unk_token_id(0)
    if template:
        file.add_chat_template(template)
    for name, tensor in _tensors(len(tokens), nexts).items():
        file.add_tensor(name, tensor.astype(np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def _tensors(vocabulary: int, nexts: Mapping[str, str]) -> dict[str, np.ndarray]:
    output = np.zeros((vocabulary, WIDTH))
    output[END, :vocabulary] = 1.0
    for one, other in nexts.items():
        output[END, len(SPECIAL) + ord(one)] = 0.0
        output[len(SPECIAL) + ord(other), len(SPECIAL) + ord(one)] = 1.0
    block = {
        **{f"attn_{name}.weight": np.zeros((WIDTH, WIDTH)) for name in ("q", "k", "v", "output")},
        "ffn_gate.weight": np.zeros((64, WIDTH)),
        "ffn_up.weight": np.zeros((64, WIDTH)),
        "ffn_down.weight": np.zeros((WIDTH, 64)),
        **{f"{name}.weight": np.ones(WIDTH) for name in ("attn_norm", "ffn_norm")},
    }
    return {
        "token_embd.weight": np.eye(vocabulary, WIDTH),
        "output_norm.weight": np.ones(WIDTH),
        "output.weight": output,
        **{f"blk.0.{name}": tensor for name, tensor in block.items()},
    }
