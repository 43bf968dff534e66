"""Text level: what a model is asked, what it drafts, and the protocol every backend meets.

Knows evidence as numbered texts. Does not know passages, indexes or documents.
"""

from collections.abc import Generator as Steps
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Kind = Literal["span", "yes", "no", "sentences", "none"]
"""What sort of answer a draft is. `sentences`: whole sentences of the evidence; `none`: the evidence has no answer."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One text to read. `sentences` are character spans of `text`, in order."""

    text: str
    title: str = ""
    sentences: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question, and the evidence to answer it from, most useful first."""

    question: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Characters `start` to `end` (exclusive) of `prompt.evidence[evidence].text`."""

    evidence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a draft: characters `start` to `end` of its text, the model's confidence in 0..1, and, from a model
    that points instead of writing, the place in the evidence it was taken from."""

    start: int
    end: int
    confidence: float
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a model that writes named evidence by its number: `evidence` is the index, `at` counts characters of the
    draft's text, in which the marker itself does not stand. It speaks of what stands before it."""

    at: int
    evidence: int


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as it stands. `tokens` is empty where a backend gives no confidences."""

    text: str
    tokens: tuple[Token, ...] = ()
    kind: Kind = "span"
    confidence: float = 0.0
    """How likely the model holds this answer to be right, 0..1; comparable between drafts of one prompt."""
    answerable: float = 1.0
    """How likely the model holds the evidence to carry an answer, 0..1."""
    cited: tuple[Source, ...] = ()
    """Sentences the model points at as its grounds."""
    marks: tuple[Mark, ...] = ()
    """What a model that writes said it took from where, in the order of the text. To be checked: it may be wrong."""
    bridge: str = ""
    """What the model would look up next; empty when it needs nothing more."""
    left_out: tuple[int, ...] = ()
    """Indexes of evidence that did not fit the model's window and was not read."""
    passes: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds by stage, e.g. `prefill` and `denoise`."""


@dataclass(frozen=True, slots=True)
class CanvasPass:
    """One denoising pass as a person would watch it: the canvas with its masks, and what was re-masked and why."""

    index: int
    canvas: str
    """The canvas's text; every masked slot is shown as `▒`."""
    committed: int
    """How many slots this pass committed."""
    masked: int
    """How many slots are still masked after this pass."""
    remasked: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0


Passes = Steps[CanvasPass, None, list[Draft]]
"""A run: yields each pass as it happens, returns the drafts, best first. Closing it stops the model before its next pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a caller should spend on one question with a backend, unless they know better. A backend whose needs differ from
    these has an attribute `budget`."""

    candidates: int = 3
    """Drafts made in one batch."""
    run_passes: int = 2
    """Passes over the canvas in one run."""
    max_passes: int = 16
    """Passes over all runs."""
    refinements: int = 1
    """Tries to repair what is doubtful."""


def budget_of(generator: object) -> Budget:
    """What the backend itself says, or else the common one."""
    said = getattr(generator, "budget", None)
    return said if isinstance(said, Budget) else Budget()


class Generator(Protocol):
    """What every backend is: a diffusion model, a hosted one, an autoregressive baseline, a double."""

    @property
    def name(self) -> str: ...

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """Drafts up to `candidates` different answers in one batch, best first, at least one."""
        ...

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
        """The draft with those character spans of its text masked and denoised again. Other characters may only change
        where the backend can't hold them fixed."""
        ...


def finish(passes: Passes) -> list[Draft]:
    """Runs to the end and gives the drafts, for a caller who doesn't watch."""
    while True:
        try:
            next(passes)
        except StopIteration as stop:
            drafts: list[Draft] = stop.value
            return drafts
