"""`remask eval retrieval`: how well each way to search finds, on the same queries and the same index."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from ..agent.console import UsageError, output
from ..retrieval import FusionOptions, Hit, Index, Mode
from .corpus import open_index
from .folder import to_json
from .interval import Interval, difference, mean, quantile
from .machine import Circumstances, circumstances
from .meter import meter
from .question import Topic
from .ranking import scores
from .records import sha256
from .table import milliseconds, percent, points, table
from .topics import read_topics

DEPTH = 100
"""How far down a ranking is looked at; the reciprocal rank of anything further is 0."""


class Way(NamedTuple):
    """A name, and how an index is asked."""

    name: str
    mode: Mode
    fusion: FusionOptions | None = None


WAYS = (
    Way("lexical", "lexical"),
    Way("dense", "dense"),
    Way("weighted", "hybrid", FusionOptions(method="weighted")),
    Way("rrf", "hybrid", FusionOptions(method="rrf")),
)


class Found(BaseModel):
    """One query by one way. A line of `rows.jsonl`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    way: str
    id: str
    query: str
    relevant: dict[str, int]
    ranked: tuple[str, ...]
    scores: dict[str, float]
    seconds: float


class SearchReport(BaseModel):
    """`pairs` compares each way with the default, weighted fusion: weighted minus the other."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: dict[str, Any]
    circumstances: Circumstances
    scores: dict[str, dict[str, Interval]]
    pairs: dict[str, dict[str, Interval]]
    seconds: dict[str, Interval]


def run(
    data: Path, out: Path, *, index: Path | None, corpus: Path | None, limit: int | None, seed: int
) -> SearchReport:
    """Writes rows, report.json, metrics.json and report.md."""
    topics = read_topics(data)
    out.mkdir(parents=True, exist_ok=True)
    indexes = _opened(index, corpus or topics.corpus, out)
    rows = _searched(topics.listed[:limit], topics.by, indexes)
    first = indexes[WAYS[0].name]
    settings = {
        "task": "retrieval",
        "data": data.name,
        "data_sha256": sha256(data),
        "queries": len(rows) // len(WAYS),
        "passages": len(first),
        "embedder": first.embedder.name,
        "relevance by": topics.by,
        "seed": seed,
    }
    made = report(rows, settings, circumstances(), seed=seed)
    _write(out, made, rows)
    return made


def report(rows: Sequence[Found], settings: dict[str, Any], where: Circumstances, *, seed: int) -> SearchReport:
    ways = {name: [row for row in rows if row.way == name] for name in dict.fromkeys(row.way for row in rows)}
    columns = {way: {name: [row.scores[name] for row in mine] for name in mine[0].scores} for way, mine in ways.items()}
    default = columns["weighted"]
    return SearchReport(
        settings=settings,
        circumstances=where,
        scores={way: {name: mean(values, seed=seed) for name, values in mine.items()} for way, mine in columns.items()},
        pairs={
            way: {name: difference(default[name], values, seed=seed) for name, values in mine.items()}
            for way, mine in columns.items()
            if way != "weighted"
        },
        seconds={way: quantile([row.seconds for row in mine], 0.5, seed=seed) for way, mine in ways.items()},
    )


def markdown(made: SearchReport) -> str:
    names = list(made.scores["weighted"])
    rows = (
        [way, str(found[names[0]].n), *(percent(found[name]) for name in names), milliseconds(made.seconds[way])]
        for way, found in made.scores.items()
    )
    pairs = ([f"weighted − {way}", *(points(found[name]) for name in names)] for way, found in made.pairs.items())
    where = made.circumstances
    facts = [f"{name}: {value}" for name, value in made.settings.items()]
    facts += [f"command: `{where.command}`", f"commit: {where.commit or 'not from a checkout'}; {where.time}"]
    facts += [f"machine: {', '.join(f'{name} {value}' for name, value in where.machine.items())}"]
    facts += [f"versions: {', '.join(f'{name} {value}' for name, value in where.versions.items())}"]
    return "\n\n".join(
        [
            f"# Retrieval on {made.settings['data']}, {made.settings['passages']:,} passages",
            "In percent, with bootstrap 95% intervals over queries. all@k: the share of queries for which the first k"
            f" hold everything relevant. Rankings are cut at {DEPTH}.",
            table(["way", "n", *names, "p50 ms"], rows),
            table(["points", *names], pairs),
            "\n".join(f"- {fact}" for fact in facts),
        ]
    )


def tell(made: SearchReport, out: Path) -> None:
    output().print(f"{markdown(made)}\n\n{out / 'report.md'}")


def _opened(index: Path | None, corpus: Path | None, out: Path) -> dict[str, Index]:
    """One index a way: they share the files on disk, so only the first has anything to build."""
    if index is None and corpus is None:
        raise UsageError("give --index DIR, --corpus FILE, or a BEIR folder with its own corpus.jsonl. See --help")
    built = open_index(index, corpus, out)
    folder = index or out / "index"
    return {way.name: Index.open(folder, embedder=built.embedder, fusion=way.fusion) for way in WAYS}


def _searched(topics: Sequence[Topic], by: str, indexes: Mapping[str, Index]) -> list[Found]:
    """One query by all ways before the next."""
    rows: list[Found] = []
    for way in WAYS:
        indexes[way.name].search(topics[0].text, DEPTH, mode=way.mode)  # warm
    with meter("searching", len(topics)) as tell:
        for number, topic in enumerate(topics, 1):
            rows += [_found(topic, way, by, indexes[way.name]) for way in WAYS]
            so_far = [row.scores["nDCG@10"] for row in rows if row.way == "weighted"]
            tell(number, f"nDCG@10 {100 * sum(so_far) / len(so_far):.1f}")
    return rows


def _found(topic: Topic, way: Way, by: str, index: Index) -> Found:
    begin = time.perf_counter()
    hits = index.search(topic.text, DEPTH, mode=way.mode)
    seconds = time.perf_counter() - begin
    ranked = tuple(dict.fromkeys(_key(hit, by) for hit in hits if by == "title" or hit.passage.document_id != topic.id))
    return Found(
        way=way.name,
        id=topic.id,
        query=topic.text,
        relevant=dict(topic.relevance),
        ranked=ranked,
        scores=scores(ranked, topic.relevance),
        seconds=seconds,
    )


def _key(hit: Hit, by: str) -> str:
    return hit.passage.title if by == "title" else hit.passage.document_id


def _write(out: Path, made: SearchReport, rows: Sequence[Found]) -> None:
    files = {
        "rows.jsonl": "".join(row.model_dump_json() + "\n" for row in rows),
        "report.json": to_json(made.model_dump(mode="json")),
        "metrics.json": to_json(made.model_dump(mode="json", include={"settings", "scores", "pairs"})),
        "report.md": markdown(made) + "\n",
    }
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
