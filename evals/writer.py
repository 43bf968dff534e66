"""What writes word by word: the protocol that each runtime of a language model meets. Knows no prompt and no evidence."""

import mmap
from collections.abc import Generator, Sequence
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


Example = tuple[str, str]
"""Something asked as the question is, and the right answer."""


class Writer(Protocol):
    """A language model on one runtime. Greedy, so that it says the same every time."""

    @property
    def model(self) -> str: ...

    @property
    def runtime(self) -> str:
        """What it runs on, with versions and threads, for a report."""

    @property
    def path(self) -> Path: ...

    def write(self, asked: str, *, max_tokens: int, examples: Sequence[Example] = ()) -> Steps:
        """One line after the examples and what is asked: the tokens up to the model's end, its first line end after some
        word, or `max_tokens`. A model that was taught to talk is asked in its own chat template, another one to go on
        after "Answer:". Raises PromptTooLong before the first step, and GenerationFailed where the runtime gives up."""


def talks(path: Path) -> bool:
    """Whether a GGUF file carries a chat template. Looks for its key, whose name stands in the file as it is."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"tokenizer.chat_template") >= 0


def conversation(asked: str, examples: Sequence[Example]) -> list[dict[str, str]]:
    """As messages, each example answered.

    >>> [message["role"] for message in conversation("Who?", [("Where?", "Ulm")])]
    ['user', 'assistant', 'user']
    """
    turns = [turn for one in examples for turn in zip(("user", "assistant"), one, strict=True)]
    return [{"role": role, "content": content} for role, content in (*turns, ("user", asked))]


def to_continue(asked: str, examples: Sequence[Example] = ()) -> str:
    """The prompt of a model that only continues texts.

    >>> to_continue("Who?", [("Where? Answer:", "Ulm")])
    'Where? Answer: Ulm\\n\\nWho?\\nAnswer:'
    """
    shown = [f"{_to_answer(one)} {answer}" for one, answer in examples]
    return "\n\n".join([*shown, _to_answer(asked)])


def _to_answer(asked: str) -> str:
    return asked if asked.endswith(":") else f"{asked}\nAnswer:"


def ended(text: str) -> bool:
    """Whether a line of some words is over.

    >>> ended("\\nMira"), ended("Mira Holt\\nBecause")
    (False, True)
    """
    return "\n" in text.lstrip()
