"""How long it takes from `remask new` to the first cited answer, for each template, as whoever types it waits.

    python -m remask.templates.bench [TEMPLATE ...] [--repeats N]

Each run begins in an empty folder with new processes, so that starting Python and loading the model are counted. Installing
remask is not. A template whose first command gives no quotation is reported as such.
"""

import argparse
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..agent.console import Exit
from .catalog import Template, catalog, template

PROGRAM = (sys.executable, "-c", "from remask.agent.cli import main; raise SystemExit(main())")
# A place in a document: its name, and where the quotation begins or the whole sentence stands.
_CITED = re.compile(r"\w\.md[:),]")


class Run(NamedTuple):
    """Seconds of both commands, and whether the second one's output has a citation."""

    new: float
    answer: float
    cited: bool

    @property
    def total(self) -> float:
        return self.new + self.answer


def measured(one: Template) -> Run:
    """One run of one template. Raises CalledProcessError where a command fails."""
    with tempfile.TemporaryDirectory() as home:
        new, _ = _timed([*PROGRAM, "new", "first-project", "--template", one.name], Path(home))
        first = [sys.executable if word == "python" else word for word in shlex.split(one.first)]
        answer, said = _timed(first, Path(home) / "first-project")
    return Run(new, answer, bool(_CITED.search(said)))


def table(rows: Sequence[tuple[str, Sequence[Run]]]) -> str:
    """A line for each template: medians in seconds, the least and the most of the whole, how many runs cited.

    >>> print(table([("general", [Run(1.0, 9.0, True), Run(1.0, 11.0, True)])]))
    | template | n | new, s | answer, s | whole, s | cited |
    | --- | --- | --- | --- | --- | --- |
    | general | 2 | 1.0 | 10.0 | 11.0 (10.0 to 12.0) | 2 |
    """
    lines = ["| template | n | new, s | answer, s | whole, s | cited |", "| --- | --- | --- | --- | --- | --- |"]
    for name, runs in rows:
        new, answer = (statistics.median(each) for each in ([run.new for run in runs], [run.answer for run in runs]))
        whole = [run.total for run in runs]
        spread = f"{statistics.median(whole):.1f} ({min(whole):.1f} to {max(whole):.1f})"
        lines.append(
            f"| {name} | {len(runs)} | {new:.1f} | {answer:.1f} | {spread} | {sum(run.cited for run in runs)} |"
        )
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("templates", nargs="*", help="which ones; all if none is named")
    arguments.add_argument("--repeats", type=int, default=3)
    given = arguments.parse_args()
    chosen = [template(name) for name in given.templates] or catalog()
    runs: list[list[Run]] = [[] for _ in chosen]
    for _ in range(given.repeats):  # in turns, so that the machine's noise hits all alike
        for one, its in zip(chosen, runs, strict=True):
            its.append(measured(one))
    sys.stdout.write(table([(one.name, its) for one, its in zip(chosen, runs, strict=True)]) + "\n")


def _timed(command: Sequence[str], folder: Path) -> tuple[float, str]:
    """Seconds and what was printed. Exit code 4 says that there is no answer, or no fix: a measurement too."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode != Exit.ABSTAINED:
        done.check_returncode()
    return time.perf_counter() - begin, done.stdout


if __name__ == "__main__":
    main()
