"""`remask eval ablation`: what each part of denoising adds to the embedded reader's answers, and what it costs.

Nothing but options differs between the variants. Each has a reader of its own, so that none finds read what another read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.console import UsageError, output
from ..agent.options import AgentOptions
from ..dllm.draft import Generator
from ..dllm.mini.reader import EmbeddedReader, ReaderOptions
from ..dllm.mini.weights import SHIPPED, load_reader
from .asking import Row
from .backend import Backend
from .dataset import read_questions
from .folder import RunFolder
from .hotpotqa import Plan, Where, setting_of
from .interval import Interval, mean
from .machine import circumstances
from .measure import measure
from .publish import publish
from .records import sha256
from .report import NAMES, Report, pairs_table, provenance, report, scores_table, times_table
from .summary import Pair, by_backend, pair_of
from .table import table, times

ALL_SLOTS = 64
"""Passes that suffice for a slot each."""
COMPARED = (
    ("one pass", "one token a pass"),
    ("several passes", "one token a pass"),
    ("several passes", "one pass"),
    ("re-masking", "several passes"),
    ("candidates", "several passes"),
    ("both", "several passes"),
    ("both", "candidates"),
    ("both", "re-masking"),
    ("both", "one pass"),
)

Load = Callable[[ReaderOptions], Generator]


class Variant(NamedTuple):
    name: str
    about: str
    reader: ReaderOptions
    agent: AgentOptions


class Pace(BaseModel):
    """Of one variant, in the first run over a question: slots of the canvas committed a pass, ends and citations among
    them, and tokens of the answer a pass."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: str
    passes: Interval
    slots: Interval
    tokens: Interval


class AblationReport(BaseModel):
    """`pairs` are between the variants that differ in one thing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    report: Report
    pairs: tuple[Pair, ...]
    paces: tuple[Pace, ...]


def variants(*, passes: int, thresholds: Sequence[float] = ()) -> list[Variant]:
    """`thresholds` adds a variant each: several passes that commit what is at least so sure."""
    plain = ReaderOptions()

    def agent(run_passes: int, *, candidates: int = 1, max_refinements: int = 0) -> AgentOptions:
        return AgentOptions(
            candidates=candidates, max_refinements=max_refinements, run_passes=run_passes, max_passes=4 * ALL_SLOTS
        )

    several = f"{passes} passes"
    return [
        Variant("one token a pass", "the surest slot a pass", ReaderOptions(together=False), agent(ALL_SLOTS)),
        Variant("one pass", "all slots at once: what the reader does by itself", plain, agent(1)),
        Variant("several passes", f"up to {several}, what is sure together", plain, agent(passes)),
        *(
            Variant(
                f"threshold {t:g}",
                f"up to {several}, what is at least {t:g} sure",
                ReaderOptions(threshold=t),
                agent(passes),
            )
            for t in thresholds
        ),
        Variant("re-masking", f"up to {several}, then doubtful parts again", plain, agent(passes, max_refinements=1)),
        Variant("candidates", f"up to {several}, 3 candidates, the heaviest", plain, agent(passes, candidates=3)),
        Variant("both", "candidates and re-masking", plain, agent(passes, candidates=3, max_refinements=1)),
    ]


def loader(name: str) -> tuple[Load, str]:
    """How a reader is loaded for `embedded` or `embedded:FILE`, and its fingerprint. Raises UsageError for other models:
    only the embedded reader's threshold can be chosen."""
    kind, _, rest = name.partition(":")
    if kind != "embedded":
        raise UsageError(f"{name!r} can't be taken apart. Give embedded or embedded:FILE")
    path = Path(rest).expanduser() if rest else SHIPPED
    loaded = load_reader(path)

    def load(options: ReaderOptions) -> Generator:
        return EmbeddedReader(loaded.reader, loaded.words, loaded.layout, options)

    return load, sha256(path)


def plan(
    data: Path,
    where: Where,
    chosen: Sequence[Variant],
    load: Load,
    *,
    fingerprint: str = "",
    limit: int | None = None,
    seed: int = 0,
) -> Plan:
    """A backend for each variant; the agent must always say its best guess."""
    questions = read_questions(data)
    if where == "open":
        raise UsageError("the ablation reads what a question came with: choose --setting distractor or gold")
    backends = [Backend(v.name, load(v.reader), v.agent, v.about, fingerprint) for v in chosen]
    settings: dict[str, Any] = {
        "task": "ablation",
        "data": data.name,
        "data_sha256": sha256(data),
        "setting": where,
        "seed": seed,
        "weights_sha256": fingerprint,
        "options": {v.name: _told(v) for v in chosen},
    }
    setting = setting_of(where, None, seed=seed, top_k=None, may_abstain=False)
    return Plan(questions[:limit], backends, setting, settings)


def run(made: Plan, out: Path, *, seed: int) -> AblationReport:
    """Asks, and writes the whole folder. Interrupted, it goes on where it stopped when it is called again."""
    folder = RunFolder(out, made.settings)
    rows = measure(made.questions, made.backends, made.setting, folder)
    title = f"Ablation on {made.settings['data']}, {made.settings['setting']} setting"
    groups = {mine[0].backend: mine for mine in by_backend(rows)}
    found = AblationReport(
        report=report(title, rows, made.backends, folder.settings, circumstances(), seed=seed),
        pairs=tuple(
            pair_of(groups[ours], groups[theirs], seed=seed)
            for ours, theirs in (
                *COMPARED,
                *((name, "several passes") for name in groups if name.startswith("threshold")),
            )
            if ours in groups and theirs in groups
        ),
        paces=tuple(pace for mine in groups.values() if (pace := pace_of(mine, seed=seed))),
    )
    bars = {
        s.backend: {NAMES[n]: s.metrics[n] for n in ("em", "f1", "joint_f1") if n in s.metrics}
        for s in found.report.scores
    }
    publish(folder, found, title, markdown(found), rows, bars={"ablation": bars})
    return found


def pace_of(rows: Sequence[Row], *, seed: int = 0) -> Pace | None:
    """None where no pass was counted."""
    first = [(row, [made for made in row.passes if made.run == 1 and made.index > 0]) for row in rows]
    first = [(row, passes) for row, passes in first if passes]
    if not first:
        return None
    return Pace(
        variant=rows[0].backend,
        passes=mean([len(passes) for _, passes in first], seed=seed),
        slots=mean([sum(made.committed for made in passes) / len(passes) for _, passes in first], seed=seed),
        tokens=mean([row.tokens / len(passes) for row, passes in first], seed=seed),
    )


def markdown(found: AblationReport) -> str:
    made = found.report
    pace = ([p.variant, *map(times, (p.passes, p.slots, p.tokens))] for p in found.paces)
    return (
        "\n\n".join(
            [
                f"# {made.title}",
                "In percent, with bootstrap 95% intervals over questions; each question went through all variants before the"
                " next. Differences are paired by question; an interval that leaves out zero is a difference.",
                scores_table(made),
                "## Differences",
                pairs_table(made.model_copy(update={"pairs": found.pairs})),
                "## Committed a pass",
                "In the first run over a question. Slots are all of the canvas, ends and citations among them; tokens are the"
                " answer's.",
                table(["variant", "passes", "slots a pass", "answer tokens a pass"], pace),
                "## Time",
                times_table(made),
                "## How this was measured",
                provenance(made),
            ]
        )
        + "\n"
    )


def tell(found: AblationReport, out: Path) -> None:
    parts = markdown(found).split("\n## How this")[0]
    output().print(f"{parts}\n{out / 'report.html'}")


def _told(variant: Variant) -> Mapping[str, Any]:
    return variant.agent.model_dump(exclude_defaults=True) | {"reader": asdict(variant.reader)}
