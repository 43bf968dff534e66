"""One table from `name:argument` to a model that drafts. Nothing is loaded, nor imported, before it is asked for."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from .draft import Generator
from .errors import BackendUnavailable

if TYPE_CHECKING:
    from .checkpoints.generator import CheckpointName


@dataclass(frozen=True, slots=True)
class Backend:
    """`argument` says what stands after the colon; empty where nothing has to. `look` says what is behind an argument
    without loading it, and raises ModelError where it can't be used."""

    make: Callable[[str], Generator]
    argument: str
    about: str
    needs_argument: bool = True
    look: Callable[[str], str] | None = None
    needs: tuple[tuple[str, str], ...] = ()
    """Distributions and the least version of each that will do."""
    key: str = ""
    """The environment variable that must hold a key."""

    @property
    def missing(self) -> str:
        """What has to be done before it can be used, as a command where one does it; empty where nothing has to."""
        wanted = [f"{name}>={least}" for name, least in self.needs if not _at_least(name, least)]
        if wanted:
            return f"pip install {' '.join(map(repr, wanted))}"
        return f"export {self.key}=YOUR_KEY" if self.key and not os.environ.get(self.key, "").strip() else ""


def _embedded(argument: str) -> Generator:
    from .mini.reader import EmbeddedReader

    return EmbeddedReader.load(Path(argument).expanduser()) if argument else EmbeddedReader.load()


def _checkpoint(family: "CheckpointName", argument: str) -> Generator:
    from .checkpoints.generator import CheckpointGenerator

    return CheckpointGenerator.load(argument, family=family)


def _checkpoint_looked_at(family: str, argument: str) -> str:
    from .checkpoints.survey import survey

    return str(survey(argument, family=family))


def _scripted(argument: str) -> Generator:
    from .script import scripted

    return scripted(Path(argument).expanduser(), name=f"scripted:{argument}")


def _scripted_looked_at(argument: str) -> str:
    _scripted(argument)
    return "a script that can be played"


def _mercury(argument: str) -> Generator:
    from .hosted.generator import HostedGenerator

    return HostedGenerator.mercury(argument)


def _openai(argument: str) -> Generator:
    from .hosted.generator import HostedGenerator

    return HostedGenerator.openai(argument)


def _hosted_looked_at(make: Callable[[str], Generator], argument: str) -> str:
    from .hosted.generator import HostedGenerator

    generator = make(argument)
    assert isinstance(generator, HostedGenerator)
    return generator.looked_at()


def _published(family: "CheckpointName", about: str, *, transformers: str = "5.0") -> Backend:
    return Backend(
        partial(_checkpoint, family),
        "PATH_OR_ID",
        about,
        look=partial(_checkpoint_looked_at, family),
        needs=(("torch", "2.6"), ("transformers", transformers)),
    )


BACKENDS: Mapping[str, Backend] = {
    "embedded": Backend(
        _embedded, "FILE", "the shipped reader, or one you trained", needs_argument=False, needs=(("torch", "2.6"),)
    ),
    "llada": _published("llada", "LLaDA, LLaDA-1.5, LLaDA-MoE"),
    "llada-moe": _published("llada-moe", "LLaDA-MoE"),
    "dream": _published("dream", "Dream, Dream-Coder, DiffuCoder"),
    "sdar": _published("sdar", "SDAR with dense layers"),
    "llada2": _published("llada2", "LLaDA2.0 and 2.1"),
    "diffusiongemma": _published("diffusiongemma", "DiffusionGemma", transformers="5.24"),
    "mercury": Backend(
        _mercury,
        "MODEL",
        "Inception's Mercury, such as mercury-2",
        look=partial(_hosted_looked_at, _mercury),
        needs=(("httpx2", "2.12"),),
        key="INCEPTION_API_KEY",
    ),
    "openai": Backend(
        _openai,
        "URL#MODEL",
        "any server that speaks OpenAI's dialect: SGLang, vLLM, ...",
        look=partial(_hosted_looked_at, _openai),
        needs=(("httpx2", "2.12"),),
    ),
    "scripted": Backend(_scripted, "FILE", "no model: says what a JSON file says", look=_scripted_looked_at),
}


def backend(name: str) -> Generator:
    """The model of `name`, or of `name:argument`. Raises BackendUnavailable for an unknown name, for an argument that is
    missing, and with WeightsUnusable whatever the model itself has to say."""
    found, argument = _found(name)
    return found.make(argument)


def looked_at(name: str) -> str:
    """What a name stands for, as far as it can be told without loading it. Raises ModelError where it can't be used."""
    found, argument = _found(name)
    if found.missing:
        raise BackendUnavailable(f"{name!r} is not ready. Run: {found.missing}")
    return found.look(argument) if found.look is not None and argument else "ready"


def usages() -> list[str]:
    """How each backend is written.

    >>> usages()[:2]
    ['embedded[:FILE]', 'llada:PATH_OR_ID']
    """
    return [f"{k}:{b.argument}" if b.needs_argument else f"{k}[:{b.argument}]" for k, b in BACKENDS.items()]


def _found(name: str) -> tuple[Backend, str]:
    kind, colon, argument = name.partition(":")
    found = BACKENDS.get(kind)
    if found is None:
        raise BackendUnavailable(f"no backend is called {kind!r}. There are: {', '.join(usages())}")
    if not argument and (colon or found.needs_argument):
        raise BackendUnavailable(f"{name!r} says not which. Write {kind}:{found.argument}")
    return found, argument


def _at_least(name: str, least: str) -> bool:
    """Whether a distribution is here in this version or a later one. Only the numbers before the first letter count."""
    try:
        return _numbers(version(name)) >= _numbers(least)
    except PackageNotFoundError:
        return False


def _numbers(version: str) -> tuple[int, ...]:
    """
    >>> _numbers("5.24.0+cpu"), _numbers("2.13.0rc1")
    ((5, 24, 0), (2, 13))
    """
    parts: list[int] = []
    for part in version.split("+")[0].split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)
