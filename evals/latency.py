"""`remask eval latency`: what a caller waits, end to end and by stage, backends question by question in turn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ..agent.console import output
from .asking import Row
from .folder import RunFolder
from .hotpotqa import Plan
from .interval import Interval, median_ratio, quantile
from .load import Load, load_table, under_load
from .machine import circumstances
from .measure import measure
from .plot import amounts, can_plot, waiting
from .publish import publish
from .rates import Rates, rates, rates_table
from .report import Report, provenance, report, times_table
from .summary import by_backend
from .table import milliseconds, table, times

LEVELS = (1, 2, 4)
RATES = """Tokens are those of the answer that stands, in each model's own pieces: word pieces of a reader that quotes, tokens
of a model that writes. The time is that of drafting and refining, reading included.""".replace("\n", " ")
LOAD = """Under load, each backend answered blocks of questions in turn, several at a time. Rates are over blocks,
waiting is over questions.""".replace("\n", " ")


class PassTimes(BaseModel):
    """Of one backend: the pass over the prompt beside a pass over the canvas (of a model that writes word by word: the
    prompt beside one word), medians over questions in seconds. `ratio` is prompt over canvas."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: str
    prompt: Interval
    canvas: Interval
    ratio: Interval


class LatencyReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    report: Report
    passes: tuple[PassTimes, ...]
    rates: tuple[Rates, ...]
    load: tuple[Load, ...]
    """By level, the first backend first."""


def run(
    made: Plan, out: Path, *, seed: int, warm: int, repeats: int, levels: Sequence[int] = (), loaded: int = 0
) -> LatencyReport:
    """Asks, and writes the whole folder. Then the first `loaded` questions again, as many at a time as each of `levels`
    says. Interrupted, it goes on where it stopped when it is called again."""
    folder = RunFolder(out, {**made.settings, "warm": warm, "repeats": repeats})
    rows = measure(made.questions, made.backends, made.setting, folder, repeats=repeats, warm=warm)
    title = f"Time on {made.settings['data']}, {made.settings['setting']} setting"
    found = LatencyReport(
        report=report(title, rows, made.backends, folder.settings, circumstances(), seed=seed),
        passes=tuple(times for mine in by_backend(rows) if (times := pass_times(mine, seed=seed))),
        rates=tuple(rate for mine in by_backend(rows) if (rate := rates(mine, seed=seed))),
        load=under_load(made.questions[:loaded], made.backends, made.setting, folder, levels, seed=seed)
        if loaded
        else (),
    )
    publish(folder, found, title, markdown(found), rows, pictures=_pictures(found, rows))
    return found


def _pictures(found: LatencyReport, rows: Sequence[Row]) -> dict[str, bytes]:
    if not can_plot():
        return {}
    made = {"time": waiting(rows)}
    if found.load:
        lines: dict[str, list[tuple[int, Interval]]] = {}
        for one in found.load:
            lines.setdefault(one.backend, []).append((one.at_once, one.per_second))
        made["load"] = amounts("Questions answered under load", lines, "questions at once", "questions a second")
    return made


def pass_times(rows: Sequence[Row], *, seed: int = 0) -> PassTimes | None:
    """None for a backend that does not tell its passes apart. Only the first run of a question counts: later ones may
    find what they read before still at hand."""
    prompts, canvases = [], []
    for row in rows:
        first = [made for made in row.passes if made.run == 1]
        prompt = [made.seconds for made in first if made.index == 0 and made.seconds > 0]
        canvas = [made.seconds for made in first if made.index > 0]
        if prompt and canvas:
            prompts.append(prompt[0])
            canvases.append(sum(canvas) / len(canvas))
    if not prompts:
        return None
    return PassTimes(
        backend=rows[0].backend,
        prompt=quantile(prompts, 0.5, seed=seed),
        canvas=quantile(canvases, 0.5, seed=seed),
        ratio=median_ratio(canvases, prompts, seed=seed),
    )


def markdown(found: LatencyReport) -> str:
    made = found.report
    parts = [
        f"# {made.title}",
        "In milliseconds from question to answer, with bootstrap 95% intervals over questions; stages are medians."
        " Every question went through all backends before the next, another one first each time.",
        times_table(made),
    ]
    if made.speeds:
        parts.append(table(["p50 over p50", "times as fast"], _speeds(made)))
    if found.passes:
        head = ["backend", "pass over the prompt", "pass over the canvas", "prompt over canvas"]
        cells = ([p.backend, milliseconds(p.prompt), milliseconds(p.canvas), times(p.ratio)] for p in found.passes)
        parts.append(table(head, cells))
    if found.rates:
        parts += [RATES, rates_table(found.rates)]
    if found.load:
        parts += [LOAD, load_table(found.load)]
    return "\n\n".join([*parts, provenance(made)]) + "\n"


def tell(found: LatencyReport, out: Path) -> None:
    output().print(f"{markdown(found)}\n{out / 'report.html'}")


def _speeds(made: Report) -> list[list[Any]]:
    return [[f"{speed.ours} against {speed.theirs}", times(speed.ratio)] for speed in made.speeds]
