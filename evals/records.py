"""Rows of JSON files, each with the words that say where it stood. Knows no layout but a list, and one row a line."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import DataUnusable


class Row(NamedTuple):
    """`where` begins an error message: the file and the row, from 1."""

    where: str
    fields: Mapping[str, Any]

    def get(self, *names: str) -> Any:
        """The first of these fields that there is. DataUnusable where there is none."""
        for name in names:
            if name in self.fields:
                return self.fields[name]
        there = ", ".join(map(repr, self.fields)) or "none"
        raise DataUnusable(f"{self.where}: no key {names[0]!r}; its keys are {there[:200]}")

    def text(self, *names: str) -> str:
        """A string that says something."""
        value = self.get(*names)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(names[0], value, "a string that is not empty")
        return value

    def wrong(self, key: str, value: object, wanted: str) -> DataUnusable:
        return DataUnusable(f"{self.where}: {key!r} is {repr(value)[:80]}, where {wanted} is needed")


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSON list or of JSON lines, which of the two is seen from the text; `.gz` is unpacked."""
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        values = enumerate(_parsed(text, str(path)), 1)
    else:
        # Not splitlines: a JSON string may hold other line ends of Unicode.
        lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        values = ((number, _parsed(line, f"{path}, row {number}")) for number, line in lines)  # type: ignore[assignment]
    for number, value in values:
        where = f"{path}, row {number}"
        if not isinstance(value, dict):
            raise DataUnusable(f"{where}: {repr(value)[:60]}, where an object with named fields is needed")
        yield Row(where, value)


def read_text(path: Path) -> str:
    """Raises DataUnusable for what can't be read as UTF-8 text."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataUnusable(f"{path}: can't be read: {error}. Check the path and the file") from error


def read_object(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    value = _parsed(read_text(path), str(path))
    if not isinstance(value, dict):
        raise DataUnusable(f"{path}: holds {type(value).__name__}, where one JSON object is needed")
    return value


def sha256(path: Path) -> str:
    """Of a file; of a folder, of the names and contents of its files in order."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file != path:
            digest.update(str(file.relative_to(path)).encode())
        with file.open("rb") as content:
            while block := content.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise DataUnusable(f"{where}: not valid JSON ({error})") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two answers to one question neither is meant."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return fields
