import os
import tempfile
from pathlib import Path

import logbook


def folder() -> Path:
    return Path(tempfile.mkdtemp())


def test_lines_come_back():
    path = folder() / "log.txt"
    logbook.append(path, "one")
    logbook.append(path, "two")
    assert logbook.lines(path) == ["one", "two"]


def test_a_refused_line_leaves_no_file_open():
    path = folder() / "log.txt"
    kept = []
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for _ in range(20):
        try:
            logbook.append(path, "a\nb")
        except ValueError as error:
            kept.append(error)
    after = len(os.listdir("/proc/self/fd")) if before is not None else None
    assert before == after
