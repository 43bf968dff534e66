"""Tests run on code that nobody has read: in a process of its own, with bounds on time, memory and files, and no network.

Python code can't be locked up by Python alone. This keeps mistakes from doing harm; against malice use a container, too.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

HARNESS = Path(__file__).with_name("harness.py")
SECONDS = 20.0


class Tested(NamedTuple):
    """One test's end, and, where it was asked for, the program's lines it ran."""

    name: str
    passed: bool
    message: str
    lines: frozenset[int] = frozenset()


class Outcome(NamedTuple):
    """What came of a test file. `error` says why there are no tests; empty where there are."""

    tests: tuple[Tested, ...]
    error: str = ""

    @property
    def passed(self) -> int:
        return sum(test.passed for test in self.tests)

    @property
    def all_passed(self) -> bool:
        return not self.error and bool(self.tests) and self.passed == len(self.tests)


def run_tests(program: str, source: str, tests: str, *, trace: bool = False, seconds: float = SECONDS) -> Outcome:
    """Runs the text of a test file on the text of a program that is imported by the name `program`."""
    with tempfile.TemporaryDirectory(prefix="sandbox-") as home:
        folder, out = Path(home) / "code", Path(home) / "out.json"
        folder.mkdir()
        (folder / f"{program}.py").write_text(source, encoding="utf-8")
        (folder / "test_this.py").write_text(tests, encoding="utf-8")
        command = [*_alone(), sys.executable, "-I", str(HARNESS), str(folder), "test_this", str(out)]
        command += ["--trace", f"{program}.py"] if trace else []
        try:
            done = subprocess.run(
                command,
                timeout=seconds,
                capture_output=True,
                cwd=folder,
                env={"HOME": home, "TMPDIR": home},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome((), f"it took more than {seconds:g} seconds and was stopped")
        if not out.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return Outcome((), f"the process ended with {done.returncode}: {said[-1] if said else 'it said nothing'}")
        return _read(out)


def _read(out: Path) -> Outcome:
    reports = json.loads(out.read_text(encoding="utf-8"))
    tests = [
        Tested(name, report["passed"], report["message"], frozenset(report.get("lines", ())))
        for name, report in reports["tests"].items()
    ]
    return Outcome(tuple(tests), reports["error"])


@cache
def _alone() -> tuple[str, ...]:
    """A network namespace of its own, where the system lets a user make one."""
    command = ("unshare", "--user", "--map-root-user", "--net")
    if shutil.which("unshare") is None:
        return ()
    works = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else ()
