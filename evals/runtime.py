"""Which runtime a language model's file is opened with. Loads only the one that is taken."""

from pathlib import Path

from ..agent.console import UsageError
from .gguf import missing
from .writer import Writer

RUNTIMES = ("llamacpp", "transformers")
"""The first one is taken where it is installed and none is named. It writes faster; the other may read faster: without AVX512
it took 9 s for ten paragraphs where the first took 16 (SmolLM2-135M, 5 questions)."""


def open_writer(path: Path, runtime: str = "", *, at_once: int = 1) -> Writer:
    """`at_once` is how many questions will be asked at a time. Raises BackendUnavailable where the runtime is missing or
    can't open the file, UsageError for another name."""
    if not runtime:
        runtime = "transformers" if missing("xllamacpp") else "llamacpp"
    check_runtime(runtime)
    if runtime == "llamacpp":
        from .llamacpp import LlamaCpp

        return LlamaCpp(path, at_once=at_once)
    from .transformers import Transformers

    return Transformers.load(path)


def check_runtime(name: str) -> None:
    if name not in RUNTIMES:
        raise UsageError(f"no runtime is called {name!r}. There are {', '.join(RUNTIMES)}")
