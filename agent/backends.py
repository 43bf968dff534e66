"""The command `remask backends`: what is installed, what is missing, and how to get it."""

from collections.abc import Sequence

from rich.text import Text

from ..dllm.backends import BACKENDS, looked_at, usages
from .console import Exit, output, printable, progress


def backends(names: Sequence[str]) -> Exit:
    """All of them, or those that are named, which are looked at more closely. Raises ModelError for one that can't be used."""
    if not names:
        for line in listed():
            output().print(line)
    for name in names:
        with progress().status(f"looking at {name}"):
            found = looked_at(name)
        output().print(Text(f"{printable(name)}: {printable(found)}"))
    return Exit.DONE


def listed() -> list[Text]:
    """A line for each: how it is written, whether it is ready, what it is, and what to do where it is not."""
    width = max(map(len, usages()))
    lines: list[Text] = []
    for usage, backend in zip(usages(), BACKENDS.values(), strict=True):
        state = Text.assemble(("missing", "yellow")) if backend.missing else Text.assemble(("ready  ", "green"))
        todo = f". Run: {backend.missing}" if backend.missing else ""
        lines.append(Text.assemble((usage.ljust(width), "bold"), "  ", state, f"  {backend.about}{todo}"))
    return lines
