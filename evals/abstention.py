"""`remask eval abstention`: does the agent know when there is no answer, and what is its confidence worth?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.calibration import Calibration
from ..agent.console import output, progress
from .dataset import read_questions
from .errors import DataUnusable
from .fit import fitted
from .folder import RunFolder, to_json
from .hotpotqa import Plan, file_name
from .machine import Circumstances, circumstances
from .measure import measure
from .plot import can_plot, curves
from .publish import publish
from .question import Question
from .records import sha256
from .refusing import Certainty, certainty
from .summary import by_backend
from .table import percent, table


class AbstentionReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

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


def _both_kinds(questions: Sequence[Question], source: str) -> None:
    without = sum(not question.answers for question in questions)
    if without in (0, len(questions)):
        have = "all have an answer" if without == 0 else "none has an answer"
        raise DataUnusable(f"{source}: of {len(questions)} questions {have}. Give some of both kinds")
