"""`remask eval noise`: do answers hold when there is more to read, and wherever the right texts stand?

Each question gets its marked paragraphs among 2 to 50 in all: its own distractors first, then those of other questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.console import output, progress
from .asking import Row
from .errors import DataUnusable
from .folder import RunFolder, to_json
from .hotpotqa import Plan
from .interval import Interval, difference
from .machine import Circumstances, circumstances
from .measure import measure
from .plot import can_plot, curves
from .question import Paragraph, Question
from .summary import Scores, Times, by_backend, scores_of, times_of
from .table import milliseconds, percent, points, table

COUNTS = (2, 4, 8, 12, 20, 50)
Place = Literal["first", "middle", "last"]
PLACES: tuple[Place, ...] = ("first", "middle", "last")


class Condition(NamedTuple):
    """How many paragraphs there are, and where among them the marked ones stand."""

    documents: int
    place: Place

    def __str__(self) -> str:
        return f"{self.documents}-{self.place}"


class Measured(BaseModel):
    """One backend under one condition. `change` is F1 minus that under the first condition, paired by question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: int
    place: Place
    scores: Scores
    times: Times
    change: Interval


class NoiseReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any]
    backends: dict[str, str]
    circumstances: Circumstances
    measured: tuple[Measured, ...]


def run(made: Plan, out: Path, *, counts: Sequence[int], places: Sequence[Place], seed: int) -> NoiseReport:
    """A folder of rows for each condition. Interrupted, it goes on where it stopped when it is called again."""
    pool = [paragraph for question in made.questions for paragraph in question.paragraphs]
    conditions = [Condition(count, place) for count in sorted(set(counts)) for place in dict.fromkeys(places)]
    rows: dict[Condition, list[Row]] = {}
    for condition in conditions:
        progress().print(f"{condition.documents} documents, the right ones {condition.place}", soft_wrap=True)
        asked = [mixed(question, pool, condition, seed=seed) for question in made.questions]
        settings = made.settings | {"documents": condition.documents, "place": condition.place}
        rows[condition] = measure(asked, made.backends, made.setting, RunFolder(out / str(condition), settings))
    found = NoiseReport(
        settings=made.settings,
        backends={backend.name: backend.model for backend in made.backends},
        circumstances=circumstances(),
        measured=tuple(_measured(rows, seed=seed)),
    )
    _write(out, found)
    return found


def mixed(question: Question, pool: Sequence[Paragraph], condition: Condition, *, seed: int) -> Question:
    """The question with its marked paragraphs and distractors around them; never fewer than are marked, and fewer than
    asked for where the pool has no more. A paragraph that holds a right answer is no distractor."""
    gold = [paragraph for paragraph in question.paragraphs if paragraph.title in question.gold_titles]
    if not gold:
        raise DataUnusable(f"question {question.id!r} has no paragraph that 'supporting_facts' names. Leave it out")
    random = Random(f"{seed}/{question.id}")
    others = list(dict.fromkeys(pool))
    random.shuffle(others)
    candidates = dict.fromkeys(p for p in (*question.paragraphs, *others) if not _answers(p, question))
    distractors = list(candidates)[: max(0, condition.documents - len(gold))]
    random.shuffle(distractors)
    at = {"first": 0, "middle": len(distractors) // 2, "last": len(distractors)}[condition.place]
    return replace(question, paragraphs=(*distractors[:at], *gold, *distractors[at:]))


def markdown(found: NoiseReport) -> str:
    names = list(found.backends)
    head = ["backend", "documents", "right ones", "n", "EM", "F1", "joint F1", "change of F1, points", "p50 ms"]
    rows = (
        [
            m.scores.backend,
            str(m.documents),
            m.place,
            str(m.scores.questions),
            *(percent(m.scores.metrics.get(name)) for name in ("em", "f1", "joint_f1")),
            points(m.change),
            milliseconds(m.times.p50),
        ]
        for name in names
        for m in found.measured
        if m.scores.backend == name
    )
    where = found.circumstances
    facts = [f"command: `{where.command}`", f"commit: {where.commit or 'not from a checkout'}; {where.time}"]
    facts += [f"{name}: {value}" for name, value in found.settings.items() if not isinstance(value, dict)]
    facts += [f"machine: {', '.join(f'{name} {value}' for name, value in where.machine.items())}"]
    facts += [f"{name}: {model}" for name, model in found.backends.items()]
    return "\n\n".join(
        [
            f"# Noise: {found.settings['data']}",
            "In percent, with bootstrap 95% intervals over questions. The change is against the first line of the same"
            " backend, paired by question.",
            table(head, rows),
            "\n".join(f"- {fact}" for fact in facts),
        ]
    )


def tell(found: NoiseReport, out: Path) -> None:
    output().print(f"{markdown(found)}\n\n{out / 'report.md'}")


def _measured(rows: dict[Condition, list[Row]], *, seed: int) -> Iterator[Measured]:
    first = {mine[0].backend: mine for mine in by_backend(next(iter(rows.values())))}
    for condition, found in rows.items():
        for mine in by_backend(found):
            f1 = [[row.scores["f1"] for row in group] for group in (mine, first[mine[0].backend])]
            yield Measured(
                documents=condition.documents,
                place=condition.place,
                scores=scores_of(mine, seed=seed),
                times=times_of(mine, seed=seed),
                change=difference(*f1, seed=seed),
            )


def _answers(paragraph: Paragraph, question: Question) -> bool:
    text = "".join(paragraph.sentences).lower()
    said = any(answer.lower() in text for answer in question.answers if answer.lower() not in ("yes", "no"))
    return said or paragraph.title in question.gold_titles


def _write(out: Path, found: NoiseReport) -> None:
    (out / "report.json").write_text(to_json(found.model_dump(mode="json")), encoding="utf-8")
    (out / "report.md").write_text(markdown(found) + "\n", encoding="utf-8")
    if can_plot():
        lines: dict[str, list[tuple[int, Interval]]] = {}
        for m in found.measured:
            lines.setdefault(f"{m.scores.backend}, {m.place}", []).append((m.documents, m.scores.metrics["f1"]))
        (out / "noise.png").write_bytes(curves("F1 against the number of documents", lines))
