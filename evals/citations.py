"""`remask eval citations`: do the quotations carry the answers, are they exact, and are there none without an answer?"""

from collections.abc import Callable
from pathlib import Path

from ..agent.console import UsageError, output
from ..agent.support import LexicalScorer, Scorer
from ..retrieval import Document
from .alce import cited
from .asking import Row, ask
from .backend import Backend
from .folder import RunFolder
from .hotpotqa import Plan
from .machine import circumstances
from .measure import in_turns
from .publish import publish
from .question import Question
from .report import NAMES, Report, markdown, report, scores_table
from .reread import Reread

SHOWN = ("cite_recall", "cite_prec", "support", "span_valid", "marked_prec", "marked_recall")
SCORERS = ("lexical", "reread")
HOW = """In percent, with bootstrap 95% intervals over questions; the agent abstains as it always does. Citation recall: the
share of an answer's sentences that their quotations, read together, support. Citation precision: the share of quotations
that support their sentence alone, or without which the others don't (both by ALCE's definitions, over answers given, with
this support scorer instead of ALCE's entailment model). Mean support: the scorer's number before it is cut at the
threshold. Quotations exact: document.text[start:end] is the quotation and it stands beside a part of the answer, of all
quotations. Unanswerable cited: of the questions without a right answer, those that got a quotation. Marked:
quotations against the data's own supporting sentences, over answers given, with no scorer at all."""


def scorer_named(name: str, backend: Backend) -> Scorer:
    """`reread` uses the first backend's model. Raises UsageError for an unknown name."""
    if name == "lexical":
        return LexicalScorer()
    if name == "reread":
        return Reread(backend.generator)
    raise UsageError(f"no support scorer is called {name!r}. There are {', '.join(SCORERS)}")


def run(made: Plan, out: Path, *, scorer: str, supported_from: float, seed: int) -> Report:
    """Asks, and writes the whole folder. Interrupted, it goes on where it stopped when it is called again."""
    judge = scorer_named(scorer, made.backends[0])
    settings = made.settings | {"support scorer": judge.name, "supported from": supported_from}
    folder = RunFolder(out, settings)
    named = {backend.name: backend for backend in made.backends}

    def put(question: Question, name: str, repeat: int) -> Row:
        backend, library = named[name], made.setting.library(question)
        options = made.setting.options(backend, question)
        row = ask(question, backend, library, options=options, may_abstain=True, repeat=repeat)
        found = scores(row, library.document, judge, supported_from=supported_from)
        return row.model_copy(update={"scores": row.scores | found})

    rows = in_turns(made.questions, list(named), put, folder)
    title = f"Citations on {made.settings['data']}, {made.settings['setting']} setting"
    found = report(title, rows, made.backends, folder.settings, circumstances(), seed=seed)
    bars = {s.backend: {NAMES[n]: s.metrics[n] for n in SHOWN if n in s.metrics} for s in found.scores}
    publish(folder, found, title, markdown(found, how=HOW), rows, bars={"citations": bars})
    return found


def scores(row: Row, document: Callable[[str], Document], scorer: Scorer, *, supported_from: float) -> dict[str, float]:
    """What the quotations of one answer are worth. Each score is there where it has a meaning: see `HOW`."""
    found: dict[str, float] = {}
    if not row.answers:
        found["cited_unanswerable"] = float(bool(row.citations))
    if not row.abstained and row.answer.strip():
        worth = cited(row.question, row.answer, row.citations, scorer, supported_from=supported_from)
        found |= {"cite_recall": worth.recall, "cite_prec": worth.precision, "support": worth.support}
        found["any_citation"] = float(bool(row.citations))
        if "sp_prec" in row.scores:
            found |= {"marked_prec": row.scores["sp_prec"], "marked_recall": row.scores["sp_recall"]}
    if row.citations:
        found["span_valid"] = sum(exact(row, number, document) for number in range(len(row.citations))) / len(
            row.citations
        )
    return found


def exact(row: Row, number: int, document: Callable[[str], Document]) -> bool:
    """Whether a quotation stands in its document, to the character, beside a part of the answer that says something."""
    citation = row.citations[number]
    try:
        text = document(citation.document_id).text
    except KeyError:
        return False
    quoted = 0 <= citation.start < citation.end and text[citation.start : citation.end] == citation.quote
    part = row.answer[max(citation.answer_start, 0) : citation.answer_end]
    return quoted and bool(citation.quote.strip()) and bool(part.strip()) and citation.answer_end <= len(row.answer)


def tell(found: Report, out: Path) -> None:
    scorer = f"support: {found.settings['support scorer']}, supported from {found.settings['supported from']}"
    output().print(f"{scores_table(found)}\n\n{scorer}\n\n{out / 'report.html'}")
