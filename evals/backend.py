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
from .floor import SentenceFloor
from .gold import GoldCeiling
from .question import Question
from .records import sha256

BASELINES = {
    "autoregressive": "autoregressive[:FILE.gguf]: a language model that writes word by word, SmolLM2-135M-Instruct",
    "floor": "floor: the best sentence by BM25",
    "gold": "gold: the right answer wherever the evidence holds it",
}

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


def open_backends(names: Sequence[str], questions: Sequence[Question]) -> list[Backend]:
    """In the order given. Raises what `check_names` does, and BackendUnavailable or WeightsUnusable where a model can't
    be loaded."""
    check_names(names)
    opened = [_opener(name)(name, questions) for name in names]
    shown = [shortened(name) for name in names]
    return [
        replace(backend, name=short) if shown.count(short) == 1 else backend
        for backend, short in zip(opened, shown, strict=True)
    ]


def shortened(name: str) -> str:
    """
    >>> shortened("embedded:runs/second/reader.safetensors"), shortened("floor")
    ('embedded:reader.safetensors', 'floor')
    """
    kind, colon, rest = name.partition(":")
    return f"{kind}{colon}{Path(rest).name}"


def check_names(names: Sequence[str]) -> None:
    """Loads nothing. Raises UsageError for a name that is unknown or given twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UsageError(f"the backend {name!r} is given twice. Each takes its turn once")
        _opener(name)


def _opener(name: str) -> Callable[[str, Sequence[Question]], Backend]:
    kind, _, rest = name.partition(":")
    if (kind in BACKENDS and (rest or not BACKENDS[kind].needs_argument)) or name in _OPENERS:
        return _OPENERS.get(kind, _diffusion)
    if kind == "autoregressive" and rest:
        return _autoregressive
    there = "; ".join([*usages(), *BASELINES.values()])
    raise UsageError(f"no backend is called {name!r}. There are {there}")


def _diffusion(name: str, questions: Sequence[Question]) -> Backend:
    with _loading(name):
        path = _path(name) or SHIPPED
        fingerprint = sha256(path) if path.is_file() else ""
        return Backend(name, backend(name), AgentOptions(), BACKENDS[name.partition(":")[0]].about, fingerprint)


def _autoregressive(name: str, questions: Sequence[Question]) -> Backend:
    with _loading(name):
        from .autoregressive import INSTRUCTION, AutoregressiveReader

        reader = AutoregressiveReader.load(_path(name))
        return Backend(name, reader, ONCE, f"{reader.model}, {reader.runtime}", sha256(reader.path), INSTRUCTION)


def _floor(name: str, questions: Sequence[Question]) -> Backend:
    return Backend(name, SentenceFloor(), ONCE, "no model: the sentence that BM25 ranks first")


def _gold(name: str, questions: Sequence[Question]) -> Backend:
    return Backend(name, GoldCeiling(questions), ONCE, "no model: the right answer, wherever the evidence holds it")


_OPENERS = {"autoregressive": _autoregressive, "floor": _floor, "gold": _gold}


def _path(name: str) -> Path | None:
    _, _, rest = name.partition(":")
    return Path(rest).expanduser() if rest else None


@contextmanager
def _loading(name: str) -> Iterator[None]:
    with progress().status(f"loading {name}"):
        yield
