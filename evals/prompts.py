"""The prompts of baselines, by name. Which of them a baseline gets was tried on training questions; asks no model."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ..agent.console import UsageError
from ..dllm.draft import Evidence
from .writer import Example

DEFAULT = "brief"
CHECK = "check"
"""The one that asks for a check, not for an answer."""


class Template(NamedTuple):
    """`text` with {passages}, {question} and {answer} to be filled in, and examples, filled in already."""

    text: str
    examples: tuple[Example, ...] = ()

    def __str__(self) -> str:
        """As a report shows it."""
        return " … ".join([*(f"{asked} → {answer}" for asked, answer in self.examples), self.text])


@cache
def prompts() -> Mapping[str, Template]:
    """By name, in the order of the file, the check among them."""
    read = tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))
    return {name: _template(**given) for name, given in read.items()}


def answering() -> tuple[str, ...]:
    """The names of those that ask for an answer."""
    return tuple(name for name in prompts() if name != CHECK)


def prompt_of(name: str) -> Template:
    """Raises UsageError for a name that is not there."""
    if name not in prompts():
        raise UsageError(f"no prompt is called {name!r}. There are {', '.join(prompts())}")
    return prompts()[name]


def written(text: str, question: str, evidence: Sequence[Evidence], *, answer: str = "") -> str:
    """What the model is told.

    >>> written("{passages} / {question}", "Who?", [Evidence("Mira did.", "Fresco"), Evidence("Blau.")])
    'Fresco: Mira did.\\n\\nBlau. / Who?'
    """
    texts = [f"{one.title}: {one.text}" if one.title else one.text for one in evidence]
    # In one go: braces in a passage are text.
    return text.format_map({"passages": "\n\n".join(texts), "question": question, "answer": answer})


def _template(text: str, examples: Sequence[Mapping[str, str]] = ()) -> Template:
    shown = [(text.format_map({**one, "answer": ""}), one["answer"]) for one in examples]
    return Template(text, tuple(shown))
