"""`remask eval score`: a file of predictions against a file of questions. Asks no model."""

from pathlib import Path

from ..agent.console import counted, output
from .dataset import read_questions
from .interval import mean
from .predictions import missing, read_predictions, score_predictions
from .report import NAMES
from .table import percent, table


def score_file(data: Path, predictions: Path, *, seed: int) -> None:
    """A table on standard output, and how many questions had no prediction, which count as wrong."""
    questions, given = read_questions(data), read_predictions(predictions)
    scored = score_predictions(given, questions)
    names = [name for name in NAMES if any(name in scores for scores in scored)]
    found = {name: mean([scores[name] for scores in scored if name in scores], seed=seed) for name in names}
    rows = [[NAMES[name], str(found[name].n), percent(found[name])] for name in names]
    absent = missing(given, questions)
    note = f"\n\n{counted(absent, 'question')} without a prediction, counted as wrong" if absent else ""
    output().print(f"{table(['percent', 'n', 'mean'], rows)}{note}")
