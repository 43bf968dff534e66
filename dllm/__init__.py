"""Masked diffusion: draft, denoise, infill, re-mask. One loop, many models. Knows nothing of passages.

    from remask.dllm import EmbeddedReader, Evidence, Prompt, finish

    reader = EmbeddedReader.load()
    drafts = finish(reader.draft(Prompt("Who painted it?", (Evidence("Mira Holt painted it in 1901."),))))

The loop itself is `remask.dllm.denoise.denoise`. Names that need torch are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .draft import Budget, CanvasPass, Draft, Evidence, Generator, Kind, Mark, Passes, Prompt, Source, Token, finish
from .errors import BackendUnavailable, GenerationFailed, ModelError, TrainingDataUnusable, WeightsUnusable
from .scripted import ScriptedGenerator

if TYPE_CHECKING:
    from .backends import backend
    from .denoise import Denoised, Proposal, Proposer, Step
    from .hosted.generator import HostedGenerator
    from .mini.reader import EmbeddedReader, ReaderOptions
    from .policy import Policy
    from .sample import Denoiser, Sampling, from_logits
    from .table import TableDenoiser

__all__ = [
    "BackendUnavailable",
    "Budget",
    "CanvasPass",
    "Denoised",
    "Denoiser",
    "Draft",
    "EmbeddedReader",
    "Evidence",
    "GenerationFailed",
    "Generator",
    "HostedGenerator",
    "Kind",
    "Mark",
    "ModelError",
    "Passes",
    "Policy",
    "Prompt",
    "Proposal",
    "Proposer",
    "ReaderOptions",
    "Sampling",
    "ScriptedGenerator",
    "Source",
    "Step",
    "TableDenoiser",
    "Token",
    "TrainingDataUnusable",
    "WeightsUnusable",
    "backend",
    "finish",
    "from_logits",
]

_HOMES = {
    "backends": ("backend",),
    "denoise": ("Denoised", "Proposal", "Proposer", "Step"),
    "hosted.generator": ("HostedGenerator",),
    "mini.reader": ("EmbeddedReader", "ReaderOptions"),
    "policy": ("Policy",),
    "sample": ("Denoiser", "Sampling", "from_logits"),
    "table": ("TableDenoiser",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
