"""A menu of commands, each with its number."""

from collections.abc import Callable


def commands(names: list[str]) -> dict[str, Callable[[], str]]:
    """For each name a function that says which number was chosen."""
    made = {}
    for number, name in enumerate(names, 1):
        made[name] = lambda number=number: f"{number}: chosen"
    return made


def titles(names: list[str]) -> list[str]:
    """The names as they are shown."""
    return [name.title() for name in names]
