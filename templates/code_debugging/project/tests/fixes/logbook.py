"""A logbook kept in a text file."""

from pathlib import Path


def append(path: Path, line: str) -> None:
    """Adds a line. Raises ValueError for one with a line break."""
    with open(path, "a", encoding="utf-8") as file:
        if "\n" in line:
            raise ValueError("one line at a time")
        file.write(line + "\n")


def lines(path: Path) -> list[str]:
    """All lines without their line breaks."""
    return path.read_text(encoding="utf-8").splitlines()
