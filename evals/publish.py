"""A report's files in the folder of its run: JSON, Markdown, pictures, and a page. Knows no measure."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from ..agent.console import progress
from .asking import Row
from .folder import RunFolder, to_json
from .interval import Interval
from .page import page
from .plot import INSTALL, can_plot
from .plot import bars as drawn

Bars = Mapping[str, Mapping[str, Interval]]


def publish(
    folder: RunFolder,
    record: BaseModel,
    title: str,
    text: str,
    rows: Sequence[Row],
    *,
    bars: Mapping[str, Bars] | None = None,
    pictures: Mapping[str, bytes] | None = None,
) -> None:
    """report.json, report.md, report.html and PNGs. `bars` are pictures still to be drawn, by file name, `pictures` those
    that are; without matplotlib there are none, and a line says so."""
    made = _drawn(title, bars or {}, pictures or {})
    for name, data in made.items():
        (folder.path / f"{name}.png").write_bytes(data)
    folder.write("report.json", to_json(record.model_dump(mode="json")))
    folder.write("report.md", text)
    folder.write("report.html", page(title, text, made, rows))


def _drawn(title: str, wanted: Mapping[str, Bars], ready: Mapping[str, bytes]) -> dict[str, bytes]:
    if not can_plot():
        progress().print(f"no pictures: matplotlib is not installed. Install it with: {INSTALL}", soft_wrap=True)
        return {}
    return {**{name: drawn(title, values) for name, values in wanted.items()}, **ready}
