"""Files and folders in, documents out, and an account of what could not be read. Nothing here uses the network."""

import os
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from pathlib import Path

from .document import Document
from .encoding import well_formed
from .errors import DocumentUnreadable
from .folder import files_in
from .formats import READERS, reader_for
from .source import Found, Note, Source

MAX_BYTES = 200_000_000
Spread = Callable[[Iterable[Source]], Iterable[Iterable[Found]]]
"""What each file yields, in the order of the files."""


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    root: str | Path | None = None,
    max_bytes: int = MAX_BYTES,
    spread: Spread | None = None,
) -> "Loading":
    """Documents of files and folders, one file in memory at a time. Trouble with a file is noted, and the next read.

    A document's id is its path relative to the folder that was given, or its name where a file was given; relative to
    `root` when there is one, which then must hold all paths. A record's id is its file's id, `#`, and its own id or row
    number. `max_bytes` limits each file, also after unpacking. With `spread` files are read elsewhere, such as on the
    machines of a cluster; the documents and their order are the same.

        loading = load(["handbook", "faq.pdf"])
        index.add(loading)
        print(loading.summary())
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    return Loading(_found(map(Path, given), Path(root) if root is not None else None, max_bytes, spread or _in_turn))


class Loading(Iterator[Document]):
    """The documents, lazily and once. The account grows while they are taken; it is complete when none is left."""

    def __init__(self, found: Iterator["Found | _Unsupported"]) -> None:
        self.documents = 0
        self.ids: set[str] = set()
        self.skipped: list[Note] = []
        """What should have been loaded and was not: an exit code should say so."""
        self.warnings: list[Note] = []
        """What was loaded and may not be as its author wrote it."""
        self.unsupported: Counter[str] = Counter()
        """Files in folders that are of other kinds, counted by suffix."""
        self._found = found

    def __next__(self) -> Document:
        for found in self._found:
            if isinstance(found, Document):
                self.documents += 1
                self.ids.add(found.id)
                return found
            if isinstance(found, _Unsupported):
                self.unsupported[found] += 1
            elif found.kind == "skipped":
                self.skipped.append(found)
            else:
                self.warnings.append(found)
        raise StopIteration

    def summary(self) -> str:
        """One line.

        >>> load([]).summary()
        '0 documents'
        """
        parts = [f"{self.documents:,} documents"]
        parts += [f"{len(self.skipped):,} skipped"] if self.skipped else []
        parts += [f"{len(self.warnings):,} warnings"] if self.warnings else []
        if self.unsupported:
            kinds = ", ".join(f"{suffix or 'no suffix'} {count:,}" for suffix, count in self.unsupported.most_common(5))
            parts.append(f"{self.unsupported.total():,} files of other kinds left out ({kinds})")
        return "; ".join(parts)


class _Unsupported(str):
    """The suffix of a file in a folder that no reader reads."""


_REPORTED_COLLISIONS = 20


def _found(
    paths: Iterable[Path], root: Path | None, max_bytes: int, spread: Spread
) -> Iterator["Found | _Unsupported"]:
    owners: dict[str, str] = {}
    asides: deque[tuple[int, Note | _Unsupported]] = deque()
    ahead, sources = tee(_sources(_files(paths, root, max_bytes), asides))
    for number, (source, found) in enumerate(zip(ahead, spread(sources), strict=True)):
        while asides and asides[0][0] <= number:
            yield asides.popleft()[1]
        yield from _without_collisions(source, found, owners)
    yield from (aside for _, aside in asides)


def _sources(
    files: Iterable["Source | Note | _Unsupported"], asides: "deque[tuple[int, Note | _Unsupported]]"
) -> Iterator[Source]:
    """Each file once. What is no file to read goes aside, with the number of the file that it stands before."""
    met: set[str] = set()
    for file in files:
        if not isinstance(file, Source):
            asides.append((len(met), file))
        elif (real := os.path.realpath(file.path)) not in met:
            met.add(real)
            yield file


def _files(paths: Iterable[Path], root: Path | None, max_bytes: int) -> Iterator["Source | Note | _Unsupported"]:
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        # ValueError: a path that holds a NUL character.
        except (OSError, ValueError) as error:
            yield Note(path, "does not exist" if isinstance(error, FileNotFoundError) else _why(error))
            continue
        base = os.path.abspath(root or (path if is_folder else path.parent))
        for file in files_in(path) if is_folder else (path,):
            if isinstance(file, Note):
                yield file
            elif reader_for(file):
                yield _source(file, base, max_bytes)
            elif is_folder:
                yield _Unsupported(file.suffix.lower())
            else:
                yield Note(file, f"files of this kind are not read; those that are end in {', '.join(READERS)}")


def _source(file: Path, base: str, max_bytes: int) -> Source | Note:
    absolute = Path(os.path.abspath(file))
    if not absolute.is_relative_to(base):
        return Note(file, f"outside the root {base}")
    return Source(file, well_formed(absolute.relative_to(base).as_posix()), max_bytes)


def _without_collisions(source: Source, read: Iterable[Found], owners: dict[str, str]) -> Iterator[Found]:
    """Two documents with one id would replace each other in an index, so only the first is loaded."""
    collisions, path = 0, str(source.path)
    for found in read:
        if not isinstance(found, Document) or found.id not in owners:
            yield found
        else:
            collisions += 1
            if collisions <= _REPORTED_COLLISIONS:
                advice = "" if owners[found.id] == path else "; load both from one folder, or give their `root`"
                yield source.skipped(f"the id {found.id!r} is taken by {owners[found.id]}{advice}")
        if isinstance(found, Document):
            owners.setdefault(found.id, path)
    if collisions > _REPORTED_COLLISIONS:
        yield source.skipped(f"{collisions - _REPORTED_COLLISIONS} more ids that are taken")


def _in_turn(sources: Iterable[Source]) -> Iterator[Iterator[Found]]:
    return map(read_file, sources)


def read_file(source: Source) -> Iterator[Found]:
    """Its documents, and notes on what it has that is none."""
    reader = reader_for(source.path)
    assert reader is not None, "only files of known kinds become sources"
    try:
        # A pipe or a device would be waited for without end.
        if source.path.is_file():
            yield from reader(source)
        else:
            yield source.skipped("not a regular file")
    except DocumentUnreadable as error:
        yield source.skipped(error.reason)
    except OSError as error:
        yield source.skipped(_why(error))


def _why(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
