"""`remask index`, and reading documents for the other commands: what was read, what was not, and why."""

import time
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from ..retrieval import Changes, Document, bar, build, load_embedder
from ..retrieval.formats import READERS
from ..retrieval.load import load
from .console import CommandError, Exit, counted, output, printable, progress


def index(paths: Sequence[Path], out: Path, *, embedder: str | None) -> Exit:
    """Reads everything before it opens the index: a mistyped path costs nothing and changes nothing."""
    begin = time.perf_counter()
    documents, skipped = read(paths)
    chosen = load_embedder(embedder) if embedder else None
    with bar("embedding") as report:
        built, changes = build(documents, out, embedder=chosen, progress=report)
    seconds = time.perf_counter() - begin
    output().print(summary(changes, passages=len(built), skipped=skipped, seconds=seconds))
    return Exit.SKIPPED if skipped else Exit.DONE


def read(paths: Sequence[Path]) -> tuple[list[Document], int]:
    """The documents of files and folders, and how many files had to be skipped. Each of those is named with its reason.

    Raises CommandError for a path that does not exist, and where there is nothing to read.
    """
    for path in paths:
        if not path.exists():
            raise CommandError(f"{str(path)!r} does not exist. Check the path.")
    loading = load(paths)
    with progress().status("reading the documents"):
        documents = list(loading)
    for note in (*loading.skipped, *loading.warnings):
        line = Text.assemble((f"{note.kind}: ", "yellow"), " ".join(printable(str(note)).split()))
        progress().print(line, soft_wrap=True)
    if not documents:
        where = ", ".join(repr(str(path)) for path in paths)
        raise CommandError(
            f"nothing to read in {where}. Give files of these kinds, or folders of them: {' '.join(READERS)}"
        )
    return documents, len(loading.skipped)


def summary(changes: Changes, *, passages: int, skipped: int, seconds: float) -> str:
    """Two lines: what there is now, and what this took.

    >>> print(summary(Changes(unchanged=2), passages=9, skipped=0, seconds=0.5))
    2 documents: 0 new, 0 changed, 2 as before; 0 files skipped
    9 passages in the index; nothing had to be embedded; 0.5 s
    """
    total = changes.added + changes.updated + changes.unchanged
    embedded = f"{changes.embedded:,} embedded now" if changes.embedded else "nothing had to be embedded"
    return (
        f"{counted(total, 'document')}: {changes.added:,} new, {changes.updated:,} changed,"
        f" {changes.unchanged:,} as before; {counted(skipped, 'file')} skipped\n"
        f"{counted(passages, 'passage')} in the index; {embedded}; {seconds:.1f} s"
    )
