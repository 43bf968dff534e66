"""`remask eval task`: an agent on a user's own documents. What it resolves, what it gets wrong, when it holds back."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..agent.console import Exit, UsageError, complain, counted, output, progress
from ..agent.indexing import read
from ..agent.options import AgentOptions
from ..retrieval import Index
from .asking import Row, ask
from .backend import Backend, check_names, open_backends
from .folder import RunFolder
from .interval import Interval
from .library import indexed
from .machine import circumstances
from .measure import Ask, in_turns
from .outcome import Handling, scores, why_not
from .own import Own, load_own, put
from .publish import publish
from .question import Question
from .records import sha256
from .report import NAMES, Report, markdown, report, scores_table, times_table
from .table import table
from .task import Case, Task, read_task

HOW = """In percent, with bootstrap 95% intervals over questions; n is the largest number of questions that a column is
over. Resolved: of the questions that may be answered, those that were, rightly, with the documents that must be cited,
and without handing over. Handled: of all, those where the agent did what was wanted. Wrong answers: of all, those that
were answered and should not have been, or not rightly. The other columns are over the answers given, the abstentions, the
hand-overs, or the questions that call for one; an agent that can't hand over does so by abstaining."""
AT_MOST = ("wrong",)


class Made(NamedTuple):
    """A run before its first question."""

    task: Task
    questions: list[Question]
    asked: Sequence[Backend | Own]
    put: Ask
    settings: dict[str, Any]


def plan(
    file: Path,
    *,
    index: Path | None,
    docs: Sequence[Path],
    agent: str | None,
    names: Sequence[str],
    limit: int | None,
    seed: int,
) -> Made:
    """Reads and opens everything. Either an own agent, which knows its documents, or backends over an index or files."""
    task = read_task(file)
    cases = {case.id: case for case in task.question}
    questions = [_question(case) for case in task.question][:limit]
    settings = {"task": "task", "name": task.name, "data": file.name, "data_sha256": sha256(file), "seed": seed}
    if agent is not None:
        if index is not None or docs:
            raise UsageError("an agent of your own brings its documents: leave out --index and --docs. See --help")
        own = load_own(agent)
        return Made(task, questions, [own], _own(cases, own), settings | {"agent": own.name})
    if (index is None) == (not docs):
        raise UsageError("give either --index DIR, or --docs PATH, or --agent FILE.py:NAME. See --help")
    check_names(names)
    searched = _opened(index, docs)
    backends = open_backends(names, questions)
    settings |= {
        "passages": len(searched),
        "embedder": searched.embedder.name,
        "weights_sha256": {b.name: b.fingerprint for b in backends},
        "options": {b.name: b.options.model_dump(exclude_defaults=True) for b in backends},
    }
    return Made(task, questions, backends, _over(cases, searched, backends, seed), settings)


def run(made: Made, out: Path, *, seed: int) -> Report:
    """Asks, and writes the whole folder. Interrupted, it goes on where it stopped when it is called again."""
    folder = RunFolder(out, made.settings)
    names = [one.name for one in made.asked]
    # An agent of the user's may do things in the world: it is asked what was written down, and nothing else.
    warm = 0 if isinstance(made.asked[0], Own) else 1
    rows = in_turns(made.questions, names, made.put, folder, warm=warm)
    found = report(f"Task: {made.task.name}", rows, made.asked, folder.settings, circumstances(), seed=seed)
    text = markdown(found, how=HOW)
    if missed := missed_table(made.task, rows):
        text += f"\n## Not handled as wanted\n\n{missed}\n"
    pictures = {"task": {s.backend: shown(s.metrics) for s in found.scores}}
    publish(folder, found, found.title, text, rows, bars=pictures)
    return found


def tell(found: Report, made: Made, out: Path) -> Exit:
    """The tables, the questions that were not handled as wanted, and whether the bars were reached."""
    mine = [row for row in RunFolder(out, made.settings).rows.values() if row.backend == found.scores[0].backend]
    parts = [scores_table(found), times_table(found), missed_table(made.task, mine), str(out / "report.html")]
    output().print("\n\n".join(filter(None, parts)))
    below = missed_bars(made.task.bars, found.scores[0].metrics)
    for line in below:
        complain(line)
    return Exit.FAILED if below else Exit.DONE


def missed_table(task: Task, rows: Sequence[Row]) -> str:
    """Every question that was not handled as wanted, and why; empty where there is none."""
    cases = {case.id: case for case in task.question}
    lines = [
        [row.id, row.backend, row.question, _said(row), why_not(cases[row.id], _handling(row))]
        for row in rows
        if not row.scores["handled"]
    ]
    return table(["id", "backend", "question", "what it did", "why not"], lines) if lines else ""


def missed_bars(bars: Mapping[str, float], metrics: Mapping[str, Interval]) -> list[str]:
    """A line for each bar that was not reached. A share of no questions reaches every bar.

    >>> missed_bars({"wrong": 0.1}, {"wrong": Interval(value=0.25, low=0.0, high=0.5, n=8)})
    ["'wrong' is 0.25, and the task's bar is at most 0.10"]
    """
    lines = []
    for name, bar in bars.items():
        if name not in metrics:
            continue
        value, word = metrics[name].value, "at most" if name in AT_MOST else "at least"
        if (value > bar) if name in AT_MOST else (value < bar):
            lines.append(f"{name!r} is {value:.2f}, and the task's bar is {word} {bar:.2f}")
    return lines


def shown(metrics: Mapping[str, Interval]) -> dict[str, Interval]:
    return {NAMES[name]: metrics[name] for name in ("resolved", "handled", "wrong") if name in metrics}


def _question(case: Case) -> Question:
    answers = tuple(one for fact in case.facts for one in fact)
    kind = case.tags[0] if case.tags else ""
    return Question(case.id, case.text, answers, None, (), type=kind)


def _opened(index: Path | None, docs: Sequence[Path]) -> Index:
    if index is not None:
        with progress().status("opening the index"):
            return Index.open(index)
    documents, _ = read(docs)
    with progress().status(f"indexing {counted(len(documents), 'document')} in memory"):
        return Index.create(documents)


def _over(cases: Mapping[str, Case], index: Index, backends: Sequence[Backend], seed: int) -> Ask:
    library = indexed(index)
    named = {backend.name: backend for backend in backends}

    def put(question: Question, name: str, repeat: int) -> Row:
        backend = named[name]
        options: AgentOptions = backend.options.model_copy(update={"seed": seed})
        row = ask(question, backend, library, options=options, may_abstain=True, repeat=repeat)
        return _judged(cases[question.id], row, hands_over=False)

    return put


def _own(cases: Mapping[str, Case], own: Own) -> Callable[[Question, str, int], Row]:
    def asked(question: Question, name: str, repeat: int) -> Row:
        row, hands_over = put(own, question, repeat)
        return _judged(cases[question.id], row, hands_over=hands_over)

    return asked


def _judged(case: Case, row: Row, *, hands_over: bool) -> Row:
    return row.model_copy(update={"scores": scores(case, _handling(row, hands_over=hands_over))})


def _handling(row: Row, *, hands_over: bool = False) -> Handling:
    cited = tuple((citation.document_id, citation.title) for citation in row.citations)
    return Handling(row.answer, cited, row.abstained, row.handed_over, hands_over)


def _said(row: Row) -> str:
    return row.answer or ("handed over" if row.handed_over else "abstained")
