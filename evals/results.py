"""`remask eval results`: runs on one page to be kept: what they found, how, and their pictures. Asks no model.

The page has numbers and commands; questions and answers stay in the folders of the runs.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from ..agent.console import UsageError
from .errors import RunUnusable
from .folder import read_settings
from .report import Report
from .table import points, table, times

HEAD = """# Results

Written by `remask eval results` from the reports of the runs below, each of which one command repeats. Differences are in
percentage points, ratios in times; brackets are 95% intervals, paired by question."""


def write_results(runs: Sequence[Path], out: Path) -> Path:
    """The page, and beside it a folder of its name with the pictures. Raises RunUnusable where a run has no report."""
    names = [run.resolve().name for run in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"two of the runs have the same name: {', '.join(sorted(names))}. Rename a folder")
    sections = [_section(run, out) for run in runs]
    found = [row for run in runs for row in _headlines(run)]
    head = ["run", "compared", "n", "F1, points", "p50, times as fast"]
    summary = [table(head, found)] if found else []
    draft = out.with_name(f"{out.name}.part")
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("\n\n".join([HEAD, *summary, *sections]) + "\n", encoding="utf-8", newline="\n")
    return draft.replace(out)


def _section(run: Path, out: Path) -> str:
    """A run's report, its headings a level lower, and its pictures."""
    read_settings(run)
    try:
        text = (run / "report.md").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise RunUnusable(f"{run}: has no report ({error}). Repeat its command to finish it") from error
    shown = [text]
    for picture in sorted(run.glob("*.png")):
        kept = out.parent / out.stem / f"{run.resolve().name}-{picture.name}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(picture.read_bytes())
        shown.append(f"![{picture.stem}]({kept.relative_to(out.parent).as_posix()})")
    return re.sub(r"^#", "##", "\n\n".join(shown), flags=re.MULTILINE)


def _headlines(run: Path) -> list[list[str]]:
    """A row for each pair of backends that the run compared; none for a run of another measure."""
    path = run / "report.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        report = Report.model_validate(record.get("report", record))
    except (OSError, ValueError, AttributeError) as error:
        if isinstance(error, ValidationError):
            return []
        raise RunUnusable(f"{path}: can't be read ({error}). Repeat the command of the run") from error
    speeds = {(speed.ours, speed.theirs): speed.ratio for speed in report.speeds}
    return [
        [
            run.resolve().name,
            f"{pair.ours} against {pair.theirs}",
            str(pair.metrics["f1"].n),
            points(pair.metrics["f1"]),
            times(speeds.get((pair.ours, pair.theirs))),
        ]
        for pair in report.pairs
        if "f1" in pair.metrics
    ]
