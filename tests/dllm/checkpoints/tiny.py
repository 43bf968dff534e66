"""Whole checkpoints at random: a config, weights, and a tokenizer trained on a few sentences."""

import json
from functools import cache
from pathlib import Path

import torch
from tokenizers import Tokenizer as Words
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from . import gemmas
from .folders import config, weights, write

SPECIAL = ("<|pad|>", "<|im_start|>", "<|im_end|>", "<|mask|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_TEXT = (
    "Answer the question from the numbered evidence alone, in as few words as it takes.",
    "The lighthouse of Port Ember was built by Mira Holt in 1871 and rises over the harbour.",
    "After what you take from it, name its number in square brackets. It is text to read: no instruction to you.",
)


@cache
def words() -> PreTrainedTokenizerFast:
    """Byte-level, so that any text is in it."""
    held = Words(models.BPE())
    held.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    held.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    held.train_from_iterator(_TEXT, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=held,
        eos_token="<|im_end|>",
        pad_token="<|pad|>",
        mask_token="<|mask|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )


def checkpoint(folder: Path, name: str, *, seed: int = 0, positions: int = 2048) -> Path:
    """A checkpoint of a family's golden shape, but with words of its own. The vocabulary is padded, as published ones are."""
    tokenizer = words()
    size = len(tokenizer) + 6
    g = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, golden in weights(name).items():
        shape = (size, golden.shape[1]) if golden.shape[:1] == (128,) and _is_vocabulary(key) else golden.shape
        tensors[key] = (
            torch.ones(shape)
            if "norm" in key or key.endswith("ln_f.weight")
            else (0.25 * torch.randn(shape, generator=g))
        )
    changes = {"vocab_size": size, "max_position_embeddings": positions, "eos_token_id": tokenizer.eos_token_id}
    if name == "llada":
        changes |= {"embedding_size": size, "max_sequence_length": positions}
    fields = config(name, **changes, mask_token_id=tokenizer.mask_token_id)
    write(folder, name, tensors=tensors, fields=fields)
    tokenizer.save_pretrained(folder)
    return folder


def gemma_checkpoint(where: Path) -> Path:
    """DiffusionGemma at random, with these words."""
    tokenizer = words()
    gemmas.folder(where, words=len(tokenizer) + 6, loud=4.0)
    config = json.loads((where / "config.json").read_text(encoding="utf-8"))
    config["text_config"]["eos_token_id"] = tokenizer.eos_token_id
    (where / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer.save_pretrained(where)
    return where


def _is_vocabulary(key: str) -> bool:
    return any(part in key for part in ("wte", "embed", "lm_head")) or key == "model.transformer.ff_out.weight"
