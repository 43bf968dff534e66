"""Runs in the sandbox's own process: a program's tests, each by itself, with what they did as JSON.

Usage: python -I harness.py FOLDER TEST_MODULE OUT [--trace PROGRAM]. Knows nothing of models or fixes.
"""

import importlib
import json
import os
import resource
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

MEGABYTE = 1 << 20
LIMITS = {
    resource.RLIMIT_AS: 1024 * MEGABYTE,
    resource.RLIMIT_CPU: 20,  # seconds of processor time
    resource.RLIMIT_FSIZE: 16 * MEGABYTE,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
}
FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.kill",
    "ctypes.",
    "ftplib.",
)


def limit() -> None:
    """Limits that can't be raised again."""
    for what, most in LIMITS.items():
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # a system that does not know it, or is stricter already
            continue


def guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuses networks, other programs and native code. An audit hook stays until the process ends."""
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} is not allowed in the sandbox")


def run(test: Callable[[], None]) -> dict[str, Any]:
    try:
        test()
    except BaseException as error:  # whatever a test does, its report is written
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"passed": False, "message": f"{said} ({Path(last.filename).name}, line {last.lineno}: {last.line})"}
    return {"passed": True, "message": ""}


def traced(test: Callable[[], None], program: str) -> dict[str, Any]:
    """The same, with the lines of the program that were run."""
    lines: set[int] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if os.path.basename(frame.f_code.co_filename) != program:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        report = run(test)
    finally:
        sys.settrace(None)
    return {**report, "lines": sorted(lines)}


def main() -> None:
    folder, module, out, *rest = sys.argv[1:]
    limit()
    sys.path.insert(0, folder)
    os.chdir(folder)
    reports: dict[str, Any] = {"error": "", "tests": {}}
    sys.addaudithook(guard)
    try:
        tests = importlib.import_module(module)
    except BaseException as error:
        reports["error"] = "".join(traceback.format_exception_only(error)).strip()
    else:
        for name, test in list(vars(tests).items()):
            if name.startswith("test") and callable(test):
                reports["tests"][name] = traced(test, rest[1]) if rest else run(test)
    Path(out).write_text(json.dumps(reports), encoding="utf-8")


if __name__ == "__main__":
    main()
