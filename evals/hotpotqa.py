"""`remask eval hotpotqa`: accuracy and time on one file of questions, a backend beside its baselines."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..agent.console import output
from ..agent.options import AgentOptions
from ..retrieval import Index
from .asking import Row
from .backend import Backend, check_names, open_backends
from .corpus import open_index
from .dataset import read_questions
from .folder import RunFolder, to_json
from .interval import Interval
from .library import Library, given, indexed
from .machine import circumstances
from .measure import Setting, Spread, measure
from .plot import can_plot, waiting
from .predictions import to_official
from .publish import publish
from .question import Question
from .records import sha256
from .report import NAMES, Report, markdown, report, scores_table, times_table

Where = Literal["distractor", "gold", "open"]
Variants = Callable[[list[Backend]], list[Backend]]


class Plan(NamedTuple):
    """What is asked of whom, from where."""

    questions: list[Question]
    backends: list[Backend]
    setting: Setting
    settings: dict[str, Any]
    """What makes two runs comparable."""


def plan(
    task: str,
    data: Path,
    where: Where,
    names: Sequence[str],
    *,
    out: Path,
    index: Path | None = None,
    corpus: Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    top_k: int | None = None,
    may_abstain: bool = False,
    variants: Variants | None = None,
    at_once: int = 1,
) -> Plan:
    """Reads and opens everything before the first question is asked. `variants` turns the backends that were named into
    those that are asked; `at_once` is how many questions will be asked at a time."""
    check_names(names)
    everything = read_questions(data)
    opened = open_index(index, corpus, out) if where == "open" else None
    backends = open_backends(names, everything, at_once=at_once)
    backends = variants(backends) if variants else backends
    setting = setting_of(where, opened, seed=seed, top_k=top_k, may_abstain=may_abstain)
    settings = {
        "task": task,
        "data": data.name,
        "data_sha256": sha256(data),
        "setting": where,
        "seed": seed,
        **({"passages": len(opened), "embedder": opened.embedder.name} if opened is not None else {}),
        "weights_sha256": {b.name: b.fingerprint for b in backends},
        "options": {b.name: _changed(setting.options(b, everything[0]), where) for b in backends},
        "abstaining_allowed": may_abstain,
    }
    return Plan(everything[:limit], backends, setting, settings)


def setting_of(where: Where, index: Index | None, *, seed: int, top_k: int | None, may_abstain: bool) -> Setting:
    """In the settings without a search everything given is read, in the given order."""
    always = {} if may_abstain else {"min_confidence": 0.0, "min_answerable": 0.0, "known_names": False}
    shelf = indexed(index) if index is not None else None

    def library(question: Question) -> Library:
        return shelf or given(question, only_gold=where == "gold")

    def options(backend: Backend, question: Question) -> AgentOptions:
        many = max(1, len(question.paragraphs))
        size = {"top_k": many, "max_evidence": many} if shelf is None else {"top_k": top_k} if top_k else {}
        return backend.options.model_copy(update={"seed": seed, **always, **size})

    return Setting(library, options, may_abstain)


def run(made: Plan, out: Path, *, seed: int, spread: Spread | None = None) -> Report:
    """Asks, and writes the whole folder. Interrupted, it goes on where it stopped when it is called again."""
    folder = RunFolder(out, made.settings)
    rows = measure(made.questions, made.backends, made.setting, folder, spread=spread)
    title = f"HotpotQA metrics on {made.settings['data']}, {made.settings['setting']} setting"
    found = report(title, rows, made.backends, made.settings, circumstances(), seed=seed)
    write(folder, found, rows)
    return found


def write(folder: RunFolder, found: Report, rows: Sequence[Row]) -> None:
    """predictions*.json, metrics.json, report.json, report.md, pictures, report.html."""
    for number, scores in enumerate(found.scores):
        mine = [row for row in rows if row.backend == scores.backend]
        name = "predictions.json" if number == 0 else f"predictions.{file_name(scores.backend)}.json"
        folder.write(name, to_json(to_official(mine)))
    folder.write("metrics.json", to_json(found.metrics()))
    drawn = {"time": waiting(rows)} if can_plot() else {}
    publish(folder, found, found.title, markdown(found), rows, bars={"accuracy": _bars(found)}, pictures=drawn)


def _bars(found: Report) -> dict[str, dict[str, Interval]]:
    shown = ("em", "f1", "sp_f1", "joint_f1")
    return {s.backend: {NAMES[n]: s.metrics[n] for n in shown if n in s.metrics} for s in found.scores}


def tell(found: Report, out: Path) -> None:
    """The two main tables, and where the rest is."""
    output().print(f"{scores_table(found)}\n\n{times_table(found)}\n\n{out / 'report.html'}")


def file_name(backend: str) -> str:
    """
    >>> file_name("embedded:run/reader.safetensors")
    'embedded-run-reader.safetensors'
    """
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in backend)


def _changed(options: AgentOptions, where: Where) -> dict[str, Any]:
    """What differs from the defaults; how many passages are read depends on the question where all are."""
    changed = options.model_dump(exclude_defaults=True)
    return {k: v for k, v in changed.items() if where == "open" or k not in ("top_k", "max_evidence")}
