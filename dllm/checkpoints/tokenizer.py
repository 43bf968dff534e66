"""A checkpoint's own tokenizer and chat template. No code from the checkpoint is run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from transformers import PreTrainedTokenizerFast, Qwen2Tokenizer

from ..errors import WeightsUnusable
from .shards import read_json

_TURN_ENDS = ("<|eot_id|>", "<|im_end|>", "<|role_end|>", "<|endoftext|>", "<end_of_turn>", "<turn|>")


class Tokenizer:
    """Text to ids and back. `ends` are the ids after which an answer is over, the one that pads it first."""

    def __init__(self, tokenizer: Any, ends: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        turns = [tokenizer.convert_tokens_to_ids(token) for token in _TURN_ENDS if token in tokenizer.get_vocab()]
        found = [*ends, tokenizer.eos_token_id, *turns]
        self.ends: tuple[int, ...] = tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))
        if not self.ends:
            raise WeightsUnusable("neither config.json nor the tokenizer names an eos_token_id. Add it to config.json")
        held = tokenizer.added_tokens_decoder.values()
        special = {str(token) for token in held if token.special} | set(tokenizer.all_special_tokens)
        # The longest first, so that no special word is left inside another.
        self._special = sorted((token for token in special if len(token) > 1), key=len, reverse=True)

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Reads tokenizer.json, or the vocab.json and merges.txt of Qwen, which Dream ships. Raises WeightsUnusable."""
        kind: Any
        if (folder / "tokenizer.json").is_file():
            kind = PreTrainedTokenizerFast
        elif (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            kind = Qwen2Tokenizer
        else:
            raise WeightsUnusable(f"{folder} has no tokenizer.json, nor vocab.json and merges.txt. Download them")
        try:
            held = kind.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WeightsUnusable(f"the tokenizer in {folder} can't be read: {error}. Download it again") from error
        return cls(held, _named_ends(folder))

    def plain(self, text: str) -> str:
        """The text with special words broken up by a space, so that no document can end a turn or open one."""
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def encode(self, text: str) -> list[int]:
        """Special words in `text` become special: only for what nobody outside wrote."""
        return cast(list[int], self._tokenizer.encode(text, add_special_tokens=False))

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Every token of a text: id, first character, last (exclusive)."""
        got = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return [(id_, *span) for id_, span in zip(got["input_ids"], got["offset_mapping"], strict=True)]

    def chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The ids of a conversation that waits for the assistant. Without a template, the messages one after the other."""
        if self._tokenizer.chat_template:
            text = self._tokenizer.apply_chat_template(
                [dict(m) for m in messages], tokenize=False, add_generation_prompt=True
            )
        else:
            text = "\n\n".join(m["content"] for m in messages) + "\n\nAnswer:"
        return self.encode(text)

    def texts(self, size: int) -> list[str]:
        """What each of the first `size` ids says by itself; empty for special words, and for ids without a word."""
        known = min(size, len(self._tokenizer))
        held = self._tokenizer.added_tokens_decoder
        special = {id_ for id_, token in held.items() if token.special} | set(self._tokenizer.all_special_ids)
        said = self._tokenizer.batch_decode([[id_] for id_ in range(known)], clean_up_tokenization_spaces=False)
        return ["" if id_ in special else text for id_, text in enumerate(said)] + [""] * (size - known)

    def decode(self, ids: Sequence[int]) -> str:
        """Special words are left out."""
        text = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return cast(str, text)


def _named_ends(folder: Path) -> list[int]:
    """The ends that config.json names, at its top or for its text part, and then those of generation_config.json."""
    config = read_json(folder / "config.json")
    places = [config, config.get("text_config")]
    if (folder / "generation_config.json").is_file():
        places.append(read_json(folder / "generation_config.json"))
    found: list[int] = []
    for place in places:
        ends = place.get("eos_token_id") if isinstance(place, dict) else None
        found += [ends] if isinstance(ends, int) else ends or []
    return found
