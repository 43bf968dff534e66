"""Queries with what is relevant to them: from questions with supporting facts, or from a folder in BEIR's layout.

BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/test.tsv` with the columns query-id, corpus-id,
score under a header line (https://github.com/beir-cellar/beir, datasets/data_loader.py).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .dataset import read_questions
from .errors import DataUnusable
from .question import Topic
from .records import read_rows, read_text


class Topics(NamedTuple):
    """`by` says what a ranking is made of: titles, of which a question's facts tell, or document ids."""

    listed: list[Topic]
    by: str
    corpus: Path | None


def read_topics(path: Path) -> Topics:
    """A file of questions, or a BEIR folder. Queries with nothing relevant are left out, as trec_eval does."""
    if path.is_dir():
        return Topics(_beir(path), "document", path / "corpus.jsonl")
    asked = [Topic(q.id, q.text, dict.fromkeys(sorted(q.gold_titles), 1)) for q in read_questions(path)]
    listed = [topic for topic in asked if topic.relevance]
    if not listed:
        raise DataUnusable(f"{path}: no question has 'supporting_facts', so nothing is known to be relevant")
    return Topics(listed, "title", None)


def _beir(folder: Path) -> list[Topic]:
    judged: dict[str, dict[str, int]] = {}
    qrels = folder / "qrels" / "test.tsv"
    for query, document, worth in _judgements(qrels):
        judged.setdefault(query, {})[document] = worth
    texts: dict[str, str] = {}
    for row in read_rows(folder / "queries.jsonl"):
        query = str(row.get("_id", "id"))
        if query in texts:
            raise DataUnusable(f"{row.where}: the id {query!r} was given before")
        texts[query] = row.text("text")
    unknown = [query for query in judged if query not in texts]
    if unknown:
        raise DataUnusable(f"{qrels}: judges the query {unknown[0]!r}, which {folder / 'queries.jsonl'} does not have")
    wanted = [query for query, documents in judged.items() if any(worth > 0 for worth in documents.values())]
    if not wanted:
        raise DataUnusable(f"{qrels}: finds nothing relevant to any query")
    return [Topic(query, texts[query], judged[query]) for query in wanted]


def _judgements(path: Path) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if number == 1 or cells == [""]:
            continue  # the header
        try:
            query, document, worth = cells
            yield query, document, int(worth)
        except ValueError as error:
            raise DataUnusable(
                f"{path}, row {number}: {line[:80]!r}, where query-id, corpus-id and score with tabs between are needed"
            ) from error
