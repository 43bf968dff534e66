"""The prompts of baselines, by name. Which of them a baseline gets was tried on training questions; asks no model."""

import tomllib
from functools import cache
from importlib.resources import files

from ..agent.console import UsageError

DEFAULT = "brief"


@cache
def prompts() -> dict[str, str]:
    """By name, in the order of the file."""
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text))


def prompt_text(name: str) -> str:
    """Raises UsageError for a name that is not there."""
    if name not in prompts():
        raise UsageError(f"no prompt is called {name!r}. There are {', '.join(prompts())}")
    return prompts()[name]
