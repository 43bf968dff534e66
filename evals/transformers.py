"""GGUF files on transformers and torch, where llama.cpp is not installed. Weights become float32."""

import struct
import time
from collections.abc import Sequence
from contextlib import redirect_stderr
from importlib.metadata import version
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from ..dllm.errors import BackendUnavailable, PromptTooLong
from .gguf import missing
from .writer import Example, Step, Steps, conversation, ended, talks, to_continue

INSTALL = "pip install 'remask[eval]'"
NEEDED = ("accelerate", "gguf")  # transformers asks for them when it opens a GGUF file


class Transformers:
    """A `Writer`. Greedy decoding with a cache; every prompt is read from its beginning."""

    def __init__(self, tokenizer: Any, network: Any, path: Path, *, chat: bool = True) -> None:
        self.path, self.model = path, path.name.removesuffix(".gguf")
        self.runtime = f"transformers {version('transformers')}, float32, {torch.get_num_threads()} threads"
        self._tokenizer, self._network, self._talks = tokenizer, network, chat
        self._window = int(network.config.max_position_embeddings)
        # transformers renamed it within its fifth version.
        self._cache = "cache" if "cache" in signature(network.forward).parameters else "past_key_values"

    @classmethod
    def load(cls, path: Path) -> "Transformers":
        """Raises BackendUnavailable with the command that installs what is missing."""
        if absent := missing(*NEEDED):
            raise BackendUnavailable(f"{path.name!r} needs {' and '.join(absent)}. Install with: {INSTALL}")
        return cls(*_opened(path), path, chat=talks(path))

    def write(self, asked: str, *, max_tokens: int, examples: Sequence[Example] = ()) -> Steps:
        ids = self._ids(asked, examples)
        needed, limit = int(ids.shape[1]) + max_tokens, self._window
        if needed > limit:
            raise PromptTooLong(f"the prompt has {ids.shape[1]} tokens, the window {limit}", limit=limit, asked=needed)
        cache: Any = None
        written: list[int] = []
        for _ in range(max_tokens):
            begin = time.perf_counter()
            with torch.inference_mode():
                out = self._network(ids, **{self._cache: cache}, use_cache=True, logits_to_keep=1)
            confidence, token = out.logits[0, -1].softmax(-1).max(-1)
            cache, ids = out[self._cache], token.view(1, 1)
            written.append(int(token))
            text = str(self._tokenizer.decode(written, skip_special_tokens=True))
            if int(token) in self._ends or ended(text):
                return
            yield Step(text, float(confidence), time.perf_counter() - begin)

    def _ids(self, asked: str, examples: Sequence[Example]) -> torch.Tensor:
        """(1, L)"""
        if not self._talks:
            return torch.as_tensor(self._tokenizer(to_continue(asked, examples), return_tensors="pt")["input_ids"])
        how = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
        return torch.as_tensor(self._tokenizer.apply_chat_template(conversation(asked, examples), **how)["input_ids"])

    @property
    def _ends(self) -> set[int]:
        configured = self._network.generation_config.eos_token_id if self._network.generation_config else None
        listed = configured if isinstance(configured, list) else [configured]
        return {int(token) for token in (*listed, self._tokenizer.eos_token_id) if token is not None}


def _opened(path: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    given = {"gguf_file": path.name, "local_files_only": True}
    try:
        with redirect_stderr(StringIO()):  # the bars of the conversion
            tokenizer = AutoTokenizer.from_pretrained(str(path.parent), **given)
            network: Any = AutoModelForCausalLM.from_pretrained(str(path.parent), dtype=torch.float32, **given)
    except (OSError, ValueError, KeyError, RuntimeError, struct.error) as error:
        raise BackendUnavailable(f"{path}: transformers can't open it as a GGUF file: {error}") from error
    network.eval()
    return tokenizer, network
