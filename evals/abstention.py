"""`remask eval abstention`: does the agent know when there is no answer, and what is its confidence worth?"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.calibration import Calibration, calibrated
from ..agent.console import output, progress
from ..agent.options import AgentOptions
from .asking import Row
from .certainty import area_under_risks, auroc, calibration_error, selective_risks
from .dataset import read_questions
from .errors import DataUnusable
from .fit import Rule, fitted, refusal
from .folder import RunFolder, to_json
from .hotpotqa import Plan, file_name
from .interval import Interval, mean
from .machine import Circumstances, circumstances
from .measure import measure
from .plot import can_plot, curves
from .publish import publish
from .question import Question
from .records import sha256
from .summary import by_backend
from .table import percent, table

COVERAGES = range(5, 101, 5)


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Refusals(Record):
    """What is refused under one rule. `balanced` is the mean of F1 over answerable questions, a refused one
    counting 0, and the share of unanswerable ones that are refused."""

    rule: str
    min_confidence: float
    min_answerable: float
    known_names: bool
    answerable: Interval
    unanswerable: Interval
    f1: Interval
    balanced: float


class Certainty(Record):
    """Of one backend. `auroc` is by the number that should tell answerable from unanswerable; `auroc_right` is of
    confidence telling right answers from wrong ones. `risks` pairs a coverage in percent with the mean of 1 − F1."""

    backend: str
    drafts: int
    auroc: dict[str, Interval]
    auroc_right: Interval | None
    area_under_risks: Interval | None
    risks: tuple[tuple[int, Interval], ...]
    ece: Interval | None
    ece_calibrated: Interval | None
    refusals: tuple[Refusals, ...]
    calibration: Calibration | None


class AbstentionReport(Record):
    title: str
    settings: dict[str, Any]
    circumstances: Circumstances
    backends: dict[str, str]
    answerable: int
    unanswerable: int
    certainties: tuple[Certainty, ...]


class Fitting(NamedTuple):
    """Other questions, to fit a calibration on."""

    questions: list[Question]
    settings: dict[str, Any]
    source: str


def fitting(made: Plan, data: Path) -> Fitting:
    """Raises DataUnusable where a question is in both files: what is fitted on may not be measured on."""
    questions = read_questions(data)
    measured = {question.id for question in made.questions} | {question.text for question in made.questions}
    shared = next((q for q in questions if q.id in measured or q.text in measured), None)
    if shared is not None:
        raise DataUnusable(f"{data}: {shared.id!r} is among the questions that are measured. Fit on other ones")
    _both_kinds(questions, str(data))
    settings = made.settings | {"task": "calibration", "data": data.name, "data_sha256": sha256(data)}
    return Fitting(questions, settings, data.name)


def run(made: Plan, out: Path, *, fit: Fitting | None, seed: int) -> AbstentionReport:
    """Asks without thresholds, so that any can be tried afterwards, and writes the whole folder: with `fit`, also
    calibration.json. Interrupted, it goes on where it stopped when it is called again."""
    _both_kinds(made.questions, str(made.settings["data"]))
    folder = RunFolder(out, made.settings | ({"fitted_on": fit.settings["data_sha256"]} if fit else {}))
    calibrations = _calibrations(made, fit, out) if fit else {}
    rows = measure(made.questions, made.backends, made.setting, folder)
    defaults = {backend.name: backend.options for backend in made.backends}
    found = AbstentionReport(
        title=f"Abstention on {made.settings['data']}, {made.settings['setting']} setting",
        settings=folder.settings,
        circumstances=circumstances(),
        backends={backend.name: backend.model for backend in made.backends},
        answerable=sum(bool(question.answers) for question in made.questions),
        unanswerable=sum(not question.answers for question in made.questions),
        certainties=tuple(
            certainty(mine, defaults[mine[0].backend], calibrations.get(mine[0].backend), seed=seed)
            for mine in by_backend(rows)
        ),
    )
    for number, one in enumerate(found.certainties):
        if one.calibration:
            name = "calibration.json" if number == 0 else f"calibration.{file_name(one.backend)}.json"
            folder.write(name, to_json(one.calibration.model_dump(mode="json")))
    lines = {one.backend: one.risks for one in found.certainties if one.risks}
    drawn = {"risk": curves("1 − F1 against the share answered", lines, across="percent answered")} if lines else {}
    publish(folder, found, found.title, markdown(found), rows, pictures=drawn if can_plot() else {})
    return found


def certainty(rows: Sequence[Row], defaults: AgentOptions, calibration: Calibration | None, *, seed: int) -> Certainty:
    """Of the rows of one backend that were asked without thresholds."""
    has_answer = [bool(row.answers) for row in rows]
    numbers = {
        "confidence": [_confidence(row) for row in rows],
        "answerable": [row.answerable for row in rows],
        "confidence × answerable": [_confidence(row) * row.answerable for row in rows],
    }
    drafts = [row for row in rows if not row.abstained]
    sure, right = [row.confidence for row in drafts], [row.scores["em"] for row in drafts]
    losses = [1 - row.scores["f1"] for row in drafts]
    return Certainty(
        backend=rows[0].backend,
        drafts=len(drafts),
        auroc={name: auroc(values, has_answer, seed=seed) for name, values in numbers.items()},
        auroc_right=auroc(sure, [value == 1 for value in right], seed=seed) if 0 < sum(right) < len(right) else None,
        area_under_risks=area_under_risks(sure, losses, seed=seed) if drafts else None,
        risks=tuple(_curve(sure, losses, len(rows), seed=seed)),
        ece=calibration_error(sure, right, seed=seed) if drafts else None,
        ece_calibrated=(
            calibration_error([calibrated(one, calibration.points) for one in sure], right, seed=seed)
            if drafts and calibration
            else None
        ),
        refusals=tuple(_refusals(rows, defaults, calibration, seed=seed)),
        calibration=calibration,
    )


def markdown(found: AbstentionReport) -> str:
    head = ["backend", "drafts", *(f"AUROC of {name}" for name in found.certainties[0].auroc)]
    head += ["AUROC, right or wrong", "mean risk", "ECE", "ECE calibrated"]
    numbers = (
        [
            one.backend,
            str(one.drafts),
            *map(percent, one.auroc.values()),
            *map(percent, (one.auroc_right, one.area_under_risks, one.ece, one.ece_calibrated)),
        ]
        for one in found.certainties
    )
    where = found.circumstances
    facts = [f"command: `{where.command}`", f"commit: {where.commit or 'not from a checkout'}; {where.time}"]
    facts += [f"{name}: {value}" for name, value in found.settings.items() if not isinstance(value, dict)]
    facts += [f"machine: {', '.join(f'{name} {value}' for name, value in where.machine.items())}"]
    facts += [f"{name}: {model}" for name, model in found.backends.items()]
    return (
        "\n\n".join(
            [
                f"# {found.title}",
                f"{found.answerable} answerable questions, {found.unanswerable} unanswerable. In percent, with bootstrap 95%"
                " intervals over questions. AUROC: the chance that an answerable question has the higher number than an"
                " unanswerable one; where the model drafts nothing its confidence is 0. Right or wrong, mean risk, and ECE are"
                " over drafts; right means an exact match, risk is 1 − F1, its mean taken over how many of the surest are"
                " answered. ECE is over ten bins of as many drafts each.",
                table(head, numbers),
                "## Refusals",
                "Balanced: the mean of F1 over answerable questions, a refused one counting 0, and the share of unanswerable"
                " ones refused. The calibration's thresholds make it as large as can be on the questions that they were"
                " fitted on, which are not these.",
                refusals_table(found),
                "## How this was measured",
                "\n".join(f"- {fact}" for fact in facts),
            ]
        )
        + "\n"
    )


def refusals_table(found: AbstentionReport) -> str:
    head = ["backend", "rule", "confidence", "answerable", "names", "answerable refused", "unanswerable refused"]
    rows = (
        [
            one.backend,
            each.rule,
            f"{each.min_confidence:.3f}",
            f"{each.min_answerable:.3f}",
            "must be read" if each.known_names else "–",
            *map(percent, (each.answerable, each.unanswerable, each.f1)),
            f"{100 * each.balanced:.1f}",
        ]
        for one in found.certainties
        for each in one.refusals
    )
    return table([*head, "F1 of answerable", "balanced"], rows)


def tell(found: AbstentionReport, out: Path) -> None:
    parts = markdown(found).split("\n## How this")[0]
    fitted_here = [one for one in found.certainties if one.calibration]
    written = f"\n{out / 'calibration.json'}" if fitted_here else ""
    output().print(f"{parts}\n{out / 'report.html'}{written}")


def _calibrations(made: Plan, fit: Fitting, out: Path) -> dict[str, Calibration]:
    progress().print("first the questions to fit on", soft_wrap=True)
    rows = measure(fit.questions, made.backends, made.setting, RunFolder(out / "fitting", fit.settings))
    known = {backend.name: backend.options.known_names for backend in made.backends}
    return {
        mine[0].backend: fitted(mine, source=fit.source, known_names=known[mine[0].backend])
        for mine in by_backend(rows)
    }


def _refusals(
    rows: Sequence[Row], defaults: AgentOptions, calibration: Calibration | None, *, seed: int
) -> Iterator[Refusals]:
    rules = {"the model's own none": Rule(), "default": Rule.of(defaults)}
    if calibration:
        rules["calibrated"] = Rule.of(calibration.options(defaults))
    for name, rule in rules.items():
        held = {kind: [rule.refuses(r) for r in rows if bool(r.answers) is kind] for kind in (True, False)}
        f1 = [0.0 if rule.refuses(r) else r.scores["f1"] for r in rows if r.answers]
        yield Refusals(
            rule=name,
            min_confidence=rule.min_confidence,
            min_answerable=rule.min_answerable,
            known_names=rule.known_names,
            answerable=mean(held[True], seed=seed),
            unanswerable=mean(held[False], seed=seed),
            f1=mean(f1, seed=seed),
            balanced=round(refusal(rows, rule).balanced, 6),
        )


def _curve(sure: Sequence[float], losses: Sequence[float], asked: int, *, seed: int) -> Iterator[tuple[int, Interval]]:
    """Up to the share of questions that have a draft. The intervals are of the mean loss of the drafts answered there."""
    if not sure:
        return
    risks = selective_risks(sure, losses)
    ranked = [loss for _, loss in sorted(zip(sure, losses, strict=True), key=lambda pair: -pair[0])]
    for coverage in COVERAGES:
        many = round(asked * coverage / 100)
        if 0 < many <= len(ranked):
            spread = mean(ranked[:many], seed=seed)
            value = round(float(risks[many - 1]), 6)
            low, high = min(spread.low, value), max(spread.high, value)
            yield coverage, spread.model_copy(update={"value": value, "low": low, "high": high})


def _confidence(row: Row) -> float:
    return 0.0 if row.abstained else row.confidence


def _both_kinds(questions: Sequence[Question], source: str) -> None:
    without = sum(not question.answers for question in questions)
    if without in (0, len(questions)):
        have = "all have an answer" if without == 0 else "none has an answer"
        raise DataUnusable(f"{source}: of {len(questions)} questions {have}. Give some of both kinds")
