"""One table from `name:argument` to a model that drafts. Nothing is loaded, nor imported, before it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .draft import Generator
from .errors import BackendUnavailable

if TYPE_CHECKING:
    from .checkpoints.family import FamilyName


@dataclass(frozen=True, slots=True)
class Backend:
    """`argument` says what stands after the colon; empty where nothing has to."""

    make: Callable[[str], Generator]
    argument: str
    about: str
    needs_argument: bool = True


def _embedded(argument: str) -> Generator:
    from .mini.reader import EmbeddedReader

    return EmbeddedReader.load(Path(argument).expanduser()) if argument else EmbeddedReader.load()


def _checkpoint(family: "FamilyName", argument: str) -> Generator:
    from .checkpoints.generator import CheckpointGenerator

    return CheckpointGenerator.load(argument, family=family)


_WHERE = "PATH_OR_ID"
BACKENDS: Mapping[str, Backend] = {
    "embedded": Backend(_embedded, "FILE", "the shipped reader, or one you trained", needs_argument=False),
    "llada": Backend(partial(_checkpoint, "llada"), _WHERE, "LLaDA, LLaDA-1.5, LLaDA-MoE"),
    "dream": Backend(partial(_checkpoint, "dream"), _WHERE, "Dream, Dream-Coder, DiffuCoder"),
    "sdar": Backend(partial(_checkpoint, "sdar"), _WHERE, "SDAR with dense layers"),
    "llada2": Backend(partial(_checkpoint, "llada2"), _WHERE, "LLaDA2.0 and 2.1"),
}


def backend(name: str) -> Generator:
    """The model of `name`, or of `name:argument`. Raises BackendUnavailable for an unknown name, for an argument that is
    missing, and with WeightsUnusable whatever the model itself has to say."""
    kind, colon, argument = name.partition(":")
    found = BACKENDS.get(kind)
    if found is None:
        raise BackendUnavailable(f"no backend is called {kind!r}. There are: {', '.join(usages())}")
    if not argument and (colon or found.needs_argument):
        raise BackendUnavailable(f"{name!r} says not which. Write {kind}:{found.argument}")
    return found.make(argument)


def usages() -> list[str]:
    """How each backend is written.

    >>> usages()[:2]
    ['embedded[:FILE]', 'llada:PATH_OR_ID']
    """
    return [f"{k}:{b.argument}" if b.needs_argument else f"{k}[:{b.argument}]" for k, b in BACKENDS.items()]
