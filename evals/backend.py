"""Names on the command line as backends that can be asked. The one place that knows which there are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..agent.console import UsageError, progress
from ..agent.options import AgentOptions
from ..dllm.backends import BACKENDS, backend, usages
from ..dllm.draft import Generator
from ..dllm.mini.weights import SHIPPED
from .autoregressive import AutoregressiveReader
from .floor import SentenceFloor
from .gguf import PACKAGED, gguf, instruction
from .gold import GoldCeiling
from .pipeline import KEPT, PipelineReader
from .prompts import CHECK, prompt_of
from .question import Question
from .records import sha256
from .runtime import RUNTIMES, check_runtime, open_writer

BASELINES = {
    "autoregressive": "autoregressive[:FILE.gguf]: a language model that writes word by word, SmolLM2 without a file",
    "smollm2": "smollm2[:RUNTIME]: SmolLM2-135M-Instruct on llamacpp, taken where it is there, or transformers",
    "gemma3": "gemma3[:RUNTIME]: Gemma 3 270M",
    "pipeline": "pipeline[:RUNTIME]: passages ranked again, SmolLM2 writes, then checks and cites",
    "llamacpp": "llamacpp:FILE.gguf",
    "transformers": "transformers:FILE.gguf",
    "floor": "floor: the best sentence by BM25",
    "gold": "gold: the right answer wherever the evidence holds it",
}

WRITE = ("openai",)
"""Backends of the table that are baselines: what answers at an endpoint mostly writes word by word."""
FOUND = 10
"""Passages that the pipeline's search asks for: it ranks them again, and reads fewer."""
ONCE = AgentOptions(candidates=1, extra_hops=0, max_refinements=0)
"""How a baseline is asked: search once, read once. Nothing that only a diffusion model gains from costs it time."""


@dataclass(frozen=True, slots=True)
class Backend:
    """`name` is what was typed, a path's folders left out where it can be; `model` says what answers; `fingerprint`
    differs where weights do."""

    name: str
    generator: Generator
    options: AgentOptions
    model: str
    fingerprint: str = ""
    prompt: str = ""
    """The instruction it is given, where it is given one."""


Opener = Callable[[str, Sequence[Question], int], Backend]


def open_backends(names: Sequence[str], questions: Sequence[Question], *, at_once: int = 1) -> list[Backend]:
    """In the order given; `at_once` is how many questions each will be asked at a time. Raises what `check_names` does,
    and BackendUnavailable or WeightsUnusable where a model can't be loaded."""
    check_names(names)
    opened = [_opener(name)(name, questions, at_once) for name in names]
    shown = [shortened(name) for name in names]
    return [
        replace(backend, name=short) if shown.count(short) == 1 else backend
        for backend, short in zip(opened, shown, strict=True)
    ]


def shortened(name: str) -> str:
    """
    >>> shortened("embedded:runs/second/reader.safetensors"), shortened("floor")
    ('embedded:reader.safetensors', 'floor')
    >>> shortened("openai:http://127.0.0.1:8000/v1#org/model")
    'openai:org/model'
    """
    kind, colon, rest = name.partition(":")
    _, served, model = rest.partition("#")
    return f"{kind}{colon}{model if served else Path(rest).name}"


def check_names(names: Sequence[str]) -> None:
    """Loads nothing. Raises UsageError for a name that is unknown or given twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UsageError(f"the backend {name!r} is given twice. Each takes its turn once")
        _opener(name)


def _opener(name: str) -> Opener:
    kind, colon, rest = name.partition(":")
    if kind in BACKENDS and (rest or not (colon or BACKENDS[kind].needs_argument)):
        return _diffusion
    opener = _OPENERS.get(kind)
    if opener is None or (colon and not rest) or (rest and kind in _BARE) or (not rest and kind in RUNTIMES):
        there = "; ".join([*usages(), *BASELINES.values()])
        raise UsageError(f"no backend is called {name!r}. There are {there}")
    if rest and (kind in PACKAGED or kind == "pipeline"):
        check_runtime(rest)
    return opener


def _diffusion(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    with _loading(name):
        path = _path(name) or SHIPPED
        fingerprint = sha256(path) if path.is_file() else ""
        kind = name.partition(":")[0]
        options = ONCE if kind in WRITE else AgentOptions()
        return Backend(name, backend(name), options, BACKENDS[kind].about, fingerprint)


def _file(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    kind, _, path = name.partition(":")
    return _language_model(name, path or "smollm2", kind if kind in RUNTIMES else "", at_once)


def _packaged(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    kind, _, runtime = name.partition(":")
    return _language_model(name, kind, runtime, at_once)


def _language_model(name: str, model: str, runtime: str, at_once: int) -> Backend:
    with _loading(name):
        writer = open_writer(gguf(model), runtime, at_once=at_once)
        reader = AutoregressiveReader(writer, instruction=instruction(model))
        about = f"{writer.model}, {writer.runtime}"
        return Backend(name, reader, ONCE, about, sha256(writer.path), str(reader.template))


def _pipeline(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    from .crossencoder import CrossEncoder

    inner = _language_model(name, "smollm2", name.partition(":")[2], at_once)
    assert isinstance(inner.generator, AutoregressiveReader)
    with _loading(name):
        encoder = CrossEncoder()
        reader = PipelineReader(inner.generator, encoder.scores)
        about = f"ranked again by {encoder.name}, the best {KEPT} read by {inner.model}, checked by it again"
        prompt = f"{inner.prompt} … and to check: {prompt_of(CHECK)}"
        wide = ONCE.model_copy(update={"top_k": FOUND})
        return replace(inner, generator=reader, options=wide, model=about, prompt=prompt)


def _floor(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    return Backend(name, SentenceFloor(), ONCE, "no model: the sentence that BM25 ranks first")


def _gold(name: str, questions: Sequence[Question], at_once: int) -> Backend:
    return Backend(name, GoldCeiling(questions), ONCE, "no model: the right answer, wherever the evidence holds it")


_OPENERS: dict[str, Opener] = {
    "autoregressive": _file,
    **dict.fromkeys(RUNTIMES, _file),
    **dict.fromkeys(PACKAGED, _packaged),
    "pipeline": _pipeline,
    "floor": _floor,
    "gold": _gold,
}
_BARE = ("floor", "gold")


def _path(name: str) -> Path | None:
    _, _, rest = name.partition(":")
    return Path(rest).expanduser() if rest else None


@contextmanager
def _loading(name: str) -> Iterator[None]:
    with progress().status(f"loading {name}"):
        yield
