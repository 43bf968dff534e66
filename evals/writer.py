"""What writes word by word: the protocol that each runtime of a language model meets. Knows no prompt and no evidence."""

import mmap
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple, Protocol


class Step(NamedTuple):
    """A token. `text` is all that was written so far, `confidence` the token's probability, `seconds` its own time: of
    the first one, that of reading the prompt."""

    text: str
    confidence: float
    seconds: float


Steps = Generator[Step, None, None]
"""Closing it stops the model before its next token."""


class Writer(Protocol):
    """A language model on one runtime. Greedy, so that it says the same every time."""

    @property
    def model(self) -> str: ...

    @property
    def runtime(self) -> str:
        """What it runs on, with versions and threads, for a report."""

    @property
    def path(self) -> Path: ...

    def write(self, asked: str, *, max_tokens: int) -> Steps:
        """One line: the tokens up to the model's end, its first line end after some word, or `max_tokens`. A model that
        was taught to talk is asked in its own chat template, another one to go on after "Answer:". Raises PromptTooLong
        before the first step, and GenerationFailed where the runtime gives up."""


def talks(path: Path) -> bool:
    """Whether a GGUF file carries a chat template. Looks for its key, whose name stands in the file as it is."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"tokenizer.chat_template") >= 0


def to_continue(asked: str) -> str:
    """The prompt of a model that only continues texts.

    >>> to_continue("Who?"), to_continue("Who? Answer:")
    ('Who?\\nAnswer:', 'Who? Answer:')
    """
    return asked if asked.endswith(":") else f"{asked}\nAnswer:"


def ended(text: str) -> bool:
    """Whether a line of some words is over.

    >>> ended("\\nMira"), ended("Mira Holt\\nBecause")
    (False, True)
    """
    return "\n" in text.lstrip()
