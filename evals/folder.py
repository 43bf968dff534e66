"""The folder of one run: what was asked, and a row for each answer as soon as it is there, so that nothing is lost.

run.json     what makes the rows comparable; a run with other settings is refused here
rows.jsonl   a line for each question and backend
*.jsonl      further records of a measure, a line each
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from .asking import Row
from .errors import RunUnusable

RUN, ROWS = "run.json", "rows.jsonl"


class RunFolder:
    """Append-only while a run lasts. One process may write it at a time."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Makes the folder, or goes on with what it holds. Raises RunUnusable where that is something else."""
        self.path = path
        self.settings = json.loads(json.dumps(settings))
        if (path / RUN).exists():
            _check_same(path, read_settings(path), self.settings)
        else:
            if (path / ROWS).exists():
                raise RunUnusable(f"{path}: holds {ROWS} but no {RUN}. Choose another folder with --out")
            path.mkdir(parents=True, exist_ok=True)
            self.write(RUN, to_json(self.settings))
        self.rows = {row.key: row for row in read_rows(path)}
        self._drop_torn_lines()

    def add(self, row: Row) -> None:
        self.append(ROWS, row)
        self.rows[row.key] = row

    def append(self, name: str, record: BaseModel) -> None:
        """A line of a file of records."""
        with (self.path / name).open("a", encoding="utf-8", newline="\n") as file:
            file.write(record.model_dump_json() + "\n")

    def write(self, name: str, text: str) -> Path:
        """Whole or not at all."""
        path = self.path / name
        draft = path.with_name(path.name + ".part")
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
        return path

    def _drop_torn_lines(self) -> None:
        """Of a run that was killed while it wrote."""
        for path in self.path.glob("*.jsonl"):
            if not (data := path.read_bytes()).endswith(b"\n"):
                path.write_bytes(data[: data.rfind(b"\n") + 1])


def read_settings(path: Path) -> dict[str, Any]:
    """Raises RunUnusable where the folder holds no run."""
    try:
        settings = json.loads((path / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunUnusable(f"{path}: holds no run ({error}). Give a folder that `remask eval` wrote") from error
    if not isinstance(settings, dict):
        raise RunUnusable(f"{path / RUN}: holds {type(settings).__name__}, where an object is needed")
    return settings


def read_rows(path: Path) -> Iterator[Row]:
    """In the order they were written. A last line without its end is left out. Raises RunUnusable with the row."""
    file = path / ROWS
    if not file.exists():
        return
    seen: set[tuple[str, str, int]] = set()
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n")[:-1], 1):
        try:
            row = Row.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "the line"
            raise RunUnusable(
                f"{file}, row {number}: {key}: {first['msg']}. Choose another folder with --out"
            ) from error
        if row.key in seen:
            raise RunUnusable(
                f"{file}, row {number}: {row.backend!r} answered {row.id!r} before. Remove one of the rows"
            )
        seen.add(row.key)
        yield row


def to_json(value: object) -> str:
    """Indented, keys in the order given, the same bytes for the same value."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _check_same(path: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in dict.fromkeys([*there, *asked]):
        if there.get(name) != asked.get(name):
            raise RunUnusable(
                f"{path}: holds a run with {name} {there.get(name)!r}, not {asked.get(name)!r}."
                " Repeat that run to go on with it, or choose another folder with --out"
            )
