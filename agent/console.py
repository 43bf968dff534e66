"""What a command says to the outside: two streams, exit codes, errors on one line. Knows no command and no model."""

import sys
import unicodedata
from enum import IntEnum
from typing import Final

from rich.console import Console
from rich.text import Text


class Exit(IntEnum):
    """What a finished command tells the shell."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    SKIPPED = 3
    ABSTAINED = 4
    INTERRUPTED = 130


EXIT_CODES = """Exit codes: 0 done; 1 it could not be done, and one line says why; 2 the command line is wrong;
3 index: done, but some files were skipped; 4 ask: the documents carry no answer; 130 interrupted."""
MARKUP: Final = "markdown"
"""How help is written. In typer's usual way, what stands in [brackets] is taken for markup and not shown."""


class CommandError(Exception):
    """Something that whoever typed the command can mend. The message names the value and the way out."""


class UsageError(CommandError):
    """The command line itself makes no sense, whatever is on the disk."""


def output() -> Console:
    """Results. Wraps for a person; a pipe gets one line for one line and no control codes."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.soft_wrap = not console.is_terminal
    return console


def progress() -> Console:
    """Progress and complaints, on standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def watched() -> bool:
    """Whether a person sees both streams, so that a live view disturbs no pipe."""
    console = progress()
    return console.is_terminal and not console.is_dumb_terminal and sys.stdout.isatty()


def complain(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    line = Text.assemble(("error: ", "bold red"), " ".join(printable(message).split()))
    progress().print(line, soft_wrap=True)


def counted(number: int, thing: str) -> str:
    """A number and its noun.

    >>> counted(1, "file"), counted(2_000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """The text without characters that steer a terminal: documents are other people's.

    >>> printable("a\\x1b[31mred\\nnext")
    'a\\ufffd[31mred\\nnext'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or not _steers(c) else "\ufffd" for c in text)


# Bidirectional overrides can make a quotation read as something else.
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )
