"""`remask eval noise`: do answers hold when there is more to read, and wherever the right texts stand?

Each question gets its marked paragraphs among 2 to 50 in all. The rest are its own distractors first, then those of other
questions; or, of the kind `duplicates`, every second one is nearly a copy of a marked paragraph; or, of the kind
`contradictions`, one is a copy of the paragraph with the answer that gives another answer. How they are made: `forge`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.console import output, progress
from .asking import Row
from .errors import DataUnusable
from .folder import RunFolder, to_json
from .forge import contradiction, false_answer, near_duplicate
from .hotpotqa import Plan
from .interval import Interval, difference, mean
from .machine import Circumstances, circumstances
from .measure import measure
from .official import answer_overlap
from .page import page
from .plot import can_plot, curves
from .question import Paragraph, Question
from .summary import Scores, Times, by_backend, scores_of, times_of
from .table import milliseconds, percent, points, table

COUNTS = (2, 4, 8, 12, 20, 50)
Place = Literal["first", "middle", "last"]
Kind = Literal["distractors", "duplicates", "contradictions"]
KINDS: tuple[Kind, ...] = ("distractors", "duplicates", "contradictions")
PLACES: tuple[Place, ...] = ("first", "middle", "last")


class Condition(NamedTuple):
    """How many paragraphs there are, where among them the marked ones stand, and what the others are."""

    documents: int
    place: Place
    kind: Kind = "distractors"

    def __str__(self) -> str:
        return f"{self.documents}-{self.place}" + ("" if self.kind == "distractors" else f"-{self.kind}")


class Measured(BaseModel):
    """One backend under one condition. `change` is F1 minus that under the first condition, paired by question. `misled`
    is the share of the questions with a contradicting copy that got its answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: int
    place: Place
    kind: Kind
    scores: Scores
    times: Times
    change: Interval
    misled: Interval | None


class NoiseReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any]
    backends: dict[str, str]
    circumstances: Circumstances
    measured: tuple[Measured, ...]


def run(
    made: Plan,
    out: Path,
    *,
    counts: Sequence[int],
    places: Sequence[Place],
    seed: int,
    kinds: Sequence[Kind] = ("distractors",),
) -> NoiseReport:
    """A folder of rows for each condition. Interrupted, it goes on where it stopped when it is called again."""
    pool = [paragraph for question in made.questions for paragraph in question.paragraphs]
    answers = [answer for question in made.questions for answer in question.answers]
    false = {question.id: false_answer(question, answers, seed=seed) for question in made.questions}
    conditions = [
        Condition(count, place, kind)
        for kind in dict.fromkeys(kinds)
        for count in sorted(set(counts))
        for place in dict.fromkeys(places)
    ]
    rows: dict[Condition, list[Row]] = {}
    for condition in conditions:
        progress().print(
            f"{condition.documents} documents, the right ones {condition.place}, {condition.kind}", soft_wrap=True
        )
        asked = [mixed(q, pool, condition, seed=seed, false=false[q.id]) for q in made.questions]
        settings = made.settings | {"documents": condition.documents, "place": condition.place}
        if condition.kind != "distractors":
            settings |= {"kind": condition.kind}
        rows[condition] = measure(asked, made.backends, made.setting, RunFolder(out / str(condition), settings))
    found = NoiseReport(
        settings=made.settings,
        backends={backend.name: backend.model for backend in made.backends},
        circumstances=circumstances(),
        measured=tuple(_measured(rows, false, seed=seed)),
    )
    shown = [r.model_copy(update={"backend": f"{r.backend}, {c}"}) for c, mine in rows.items() for r in mine]
    _write(out, found, shown)
    return found


def mixed(
    question: Question, pool: Sequence[Paragraph], condition: Condition, *, seed: int, false: str = ""
) -> Question:
    """The question with its marked paragraphs and noise around them; never fewer than are marked, and fewer than asked for
    where there are no more. A paragraph that holds a right answer is no distractor. `false` is what a contradicting copy
    says; without it there is none."""
    gold = [paragraph for paragraph in question.paragraphs if paragraph.title in question.gold_titles]
    if not gold:
        raise DataUnusable(f"question {question.id!r} has no paragraph that 'supporting_facts' names. Leave it out")
    random = Random(f"{seed}/{question.id}")
    others = list(dict.fromkeys(pool))
    random.shuffle(others)
    candidates = dict.fromkeys(p for p in (*question.paragraphs, *others) if not _answers(p, question))
    room = max(0, condition.documents - len(gold))
    forged = _forged(gold, question, condition.kind, room, seed=seed, false=false)
    noise = [*forged, *list(candidates)[: room - len(forged)]]
    random.shuffle(noise)
    at = {"first": 0, "middle": len(noise) // 2, "last": len(noise)}[condition.place]
    return replace(question, paragraphs=(*noise[:at], *gold, *noise[at:]))


def _forged(
    gold: Sequence[Paragraph], question: Question, kind: Kind, room: int, *, seed: int, false: str
) -> list[Paragraph]:
    """As many as there is room for."""
    if kind == "duplicates":
        return [near_duplicate(gold[n % len(gold)], n, seed=seed) for n in range((room + 1) // 2)]
    if kind == "contradictions" and false:
        copies = (contradiction(paragraph, question.answers, false) for paragraph in gold)
        return [copy for copy in copies if copy][: min(1, room)]
    return []


def markdown(found: NoiseReport) -> str:
    names = list(found.backends)
    head = ["backend", "noise", "documents", "right ones", "n", "EM", "F1", "joint F1", "change of F1, points"]
    head += ["misled", "p50 ms"]
    rows = (
        [
            m.scores.backend,
            m.kind,
            str(m.documents),
            m.place,
            str(m.scores.questions),
            *(percent(m.scores.metrics.get(name)) for name in ("em", "f1", "joint_f1")),
            points(m.change),
            percent(m.misled),
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
            " backend, paired by question. Misled: of the questions with a contradicting copy, those that got its answer.",
            table(head, rows),
            "\n".join(f"- {fact}" for fact in facts),
        ]
    )


def tell(found: NoiseReport, out: Path) -> None:
    output().print(f"{markdown(found)}\n\n{out / 'report.md'}")


def misled(rows: Sequence[Row], false: Mapping[str, str]) -> list[float]:
    """For each question that may have been misled: 1 where its answer is exactly the false one."""
    return [answer_overlap(row.answer, [false[row.id]]).em for row in rows if false[row.id]]


def _measured(rows: dict[Condition, list[Row]], false: Mapping[str, str], *, seed: int) -> Iterator[Measured]:
    first = {mine[0].backend: mine for mine in by_backend(next(iter(rows.values())))}
    for condition, found in rows.items():
        for mine in by_backend(found):
            fooled = misled(mine, false) if condition.kind == "contradictions" else []
            f1 = [[row.scores["f1"] for row in group] for group in (mine, first[mine[0].backend])]
            yield Measured(
                documents=condition.documents,
                place=condition.place,
                kind=condition.kind,
                scores=scores_of(mine, seed=seed),
                times=times_of(mine, seed=seed),
                change=difference(*f1, seed=seed),
                misled=mean(fooled, seed=seed) if fooled else None,
            )


def _answers(paragraph: Paragraph, question: Question) -> bool:
    text = "".join(paragraph.sentences).lower()
    said = any(answer.lower() in text for answer in question.answers if answer.lower() not in ("yes", "no"))
    return said or paragraph.title in question.gold_titles


def _write(out: Path, found: NoiseReport, rows: Sequence[Row]) -> None:
    (out / "report.json").write_text(to_json(found.model_dump(mode="json")), encoding="utf-8")
    (out / "report.md").write_text(markdown(found) + "\n", encoding="utf-8")
    pictures: dict[str, bytes] = {}
    for kind in dict.fromkeys(m.kind for m in found.measured) if can_plot() else ():
        lines: dict[str, list[tuple[int, Interval]]] = {}
        for m in found.measured:
            if m.kind == kind:
                lines.setdefault(f"{m.scores.backend}, {m.place}", []).append((m.documents, m.scores.metrics["f1"]))
        name = "noise" if kind == "distractors" else f"noise-{kind}"
        pictures[name] = curves(f"F1 against the number of documents, {kind}", lines)
        (out / f"{name}.png").write_bytes(pictures[name])
    text = page(f"Noise: {found.settings['data']}", markdown(found), pictures, rows)
    (out / "report.html").write_text(text, encoding="utf-8")
