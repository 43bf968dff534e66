"""GGUF files on llama.cpp, the runtime that people pick for speed on processors. The one module that knows xllamacpp."""

import math
import queue
import shutil
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import Any

from ..dllm.errors import BackendUnavailable, GenerationFailed, PromptTooLong
from .gguf import missing
from .machine import threads
from .writer import Example, Step, Steps, conversation, ended, talks, to_continue

INSTALL = "pip install 'remask[llamacpp]'"
WINDOW = 8192  # tokens of prompt and answer; SmolLM2 was trained for as many


class LlamaCpp:
    """A `Writer`. llama.cpp's own server inside this process, listening on a Unix socket in a folder of its own and on
    no port. `at_once` requests share each pass; further ones wait.

    It keeps what it read last, as servers do: a prompt that begins like the one before is read from where they part.
    Confidences cost it about 2 ms a token, since llama.cpp sorts its whole vocabulary for them.
    """

    def __init__(self, path: Path, *, at_once: int = 1) -> None:
        """Raises BackendUnavailable where the package is missing or the file is no model for it."""
        if missing("xllamacpp"):
            raise BackendUnavailable(f"llama.cpp is not installed. Install it with: {INSTALL}")
        import xllamacpp

        self.path, self.model = path, path.name.removesuffix(".gguf")
        self.runtime = f"llama.cpp (xllamacpp {version('xllamacpp')}), {threads()} threads"
        self._talks = talks(path)
        folder = Path(tempfile.mkdtemp(prefix="remask-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        given: Any = xllamacpp.CommonParams()
        given.model.path = str(path)
        given.hostnames = [str(folder / "model.sock")]
        given.verbosity = -1
        given.ui = False
        given.n_parallel = at_once
        given.n_ctx = WINDOW * at_once
        given.cache_ram_mib = 0  # it would keep every prompt of a benchmark
        given.cpuparams.n_threads = given.cpuparams_batch.n_threads = threads()
        try:
            self._server: Any = xllamacpp.Server(given)
        except (RuntimeError, ValueError) as error:
            raise BackendUnavailable(f"{path}: llama.cpp can't open it as a GGUF file: {error}") from error

    def write(self, asked: str, *, max_tokens: int, examples: Sequence[Example] = ()) -> Steps:
        request: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens, "stream": True, "cache_prompt": True}
        if self._talks:
            messages = conversation(asked, examples)
            call = self._server.handle_chat_completions
            request |= {"messages": messages, "logprobs": True, "top_logprobs": 1}
        else:
            call = self._server.handle_completions
            request |= {"prompt": to_continue(asked, examples), "n_probs": 1}
        return _steps(call, request)


def _steps(call: Any, request: Mapping[str, Any]) -> Steps:
    """The call gives its chunks to a function, so it runs in a thread that hands them over."""
    handed: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stopped = Event()

    def take(chunk: Any) -> bool:
        handed.put(chunk)
        return stopped.is_set()

    def run() -> None:
        try:
            call(dict(request), take)
            handed.put(None)
        except Exception as error:  # whatever it is, it is told where the answer is awaited
            handed.put(error)

    thread = Thread(target=run, name="llama.cpp", daemon=True)
    began, text = time.perf_counter(), ""
    thread.start()
    try:
        while (chunk := handed.get()) is not None:
            said, probability = _said(chunk)
            if not said:
                continue
            text += said
            if ended(text):
                break
            now = time.perf_counter()
            yield Step(text, probability, now - began)
            began = now
    finally:
        stopped.set()
        thread.join()


def _said(chunk: Any) -> tuple[str, float]:
    """The text that a chunk adds and its first token's probability; no text for one that says something else."""
    if isinstance(chunk, Exception):
        raise GenerationFailed(f"llama.cpp failed: {chunk}") from chunk
    if error := chunk.get("error"):
        if error.get("type") == "exceed_context_size_error":
            asked, limit = int(error["n_prompt_tokens"]), int(error["n_ctx"])
            raise PromptTooLong(f"the prompt has {asked} tokens, the window {limit}", limit=limit, asked=asked)
        raise GenerationFailed(f"llama.cpp failed: {error.get('message', error)}")
    choice = chunk["choices"][0]
    said = choice["delta"].get("content") if "delta" in choice else choice.get("text")
    probability = 0.0
    with suppress(KeyError, IndexError, TypeError):
        probability = math.exp(choice["logprobs"]["content"][0]["logprob"])
    return said or "", probability
