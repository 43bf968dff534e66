"""`remask eval retrieval`: how well each way to search finds, on the same queries and the same index."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from ..agent.console import UsageError, output
from ..retrieval import FusionOptions, Hit, Index, Mode
from .corpus import open_index
from .errors import RunUnusable
from .folder import RunFolder, to_json
from .interval import Interval, difference, mean, quantile
from .machine import Circumstances, circumstances
from .meter import meter
from .publish import publish
from .question import Topic
from .ranking import scores
from .records import sha256
from .table import milliseconds, percent, points, table
from .topics import read_topics

FOUND = "found.jsonl"
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
    """One query by one way. A line of `found.jsonl`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    way: str
    id: str
    query: str
    relevant: dict[str, int]
    ranked: tuple[str, ...]
    scores: dict[str, float]
    seconds: float

    @property
    def key(self) -> tuple[str, str]:
        return self.way, self.id


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
    """Searches, and writes the whole folder. Interrupted, it goes on where it stopped when it is called again."""
    topics = read_topics(data)
    indexes = _opened(index, corpus or topics.corpus, out)
    first = indexes[WAYS[0].name]
    settings = {
        "task": "retrieval",
        "data": data.name,
        "data_sha256": sha256(data),
        "passages": len(first),
        "embedder": first.embedder.name,
        "relevance by": topics.by,
        "seed": seed,
    }
    folder = RunFolder(out, settings)
    rows = _searched(topics.listed[:limit], topics.by, indexes, folder)
    made = report(rows, {**settings, "queries": len(rows) // len(WAYS)}, circumstances(), seed=seed)
    folder.write("metrics.json", to_json(made.model_dump(mode="json", include={"settings", "scores", "pairs"})))
    publish(folder, made, _title(made), markdown(made) + "\n", [], bars={"found": made.scores})
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
            f"# {_title(made)}",
            "In percent, with bootstrap 95% intervals over queries. all@k: the share of queries for which the first k"
            f" hold everything relevant. Rankings are cut at {DEPTH}.",
            table(["way", "n", *names, "p50 ms"], rows),
            table(["points", *names], pairs),
            "\n".join(f"- {fact}" for fact in facts),
        ]
    )


def _title(made: SearchReport) -> str:
    return f"Retrieval on {made.settings['data']}, {made.settings['passages']:,} passages"


def tell(made: SearchReport, out: Path) -> None:
    output().print(f"{markdown(made)}\n\n{out / 'report.html'}")


def _opened(index: Path | None, corpus: Path | None, out: Path) -> dict[str, Index]:
    """One index a way: they share the files on disk, so only the first has anything to build."""
    if index is None and corpus is None:
        raise UsageError("give --index DIR, --corpus FILE, or a BEIR folder with its own corpus.jsonl. See --help")
    built = open_index(index, corpus, out)
    folder = index or out / "index"
    return {way.name: Index.open(folder, embedder=built.embedder, fusion=way.fusion) for way in WAYS}


def _searched(topics: Sequence[Topic], by: str, indexes: Mapping[str, Index], folder: RunFolder) -> list[Found]:
    """One query by all ways before the next; those that the folder has are not asked again."""
    done = {row.key: row for row in _kept(folder)}
    todo = [topic for topic in topics if any((way.name, topic.id) not in done for way in WAYS)]
    for way in WAYS if todo else ():
        indexes[way.name].search(todo[0].text, DEPTH, mode=way.mode)  # warm
    with meter("searching", len(topics), done=len(topics) - len(todo)) as tell:
        for number, topic in enumerate(todo, len(topics) - len(todo) + 1):
            for way in WAYS:
                if (way.name, topic.id) not in done:
                    row = _found(topic, way, by, indexes[way.name])
                    folder.append(FOUND, row)
                    done[row.key] = row
            so_far = [row.scores["nDCG@10"] for row in done.values() if row.way == "weighted"]
            tell(number, f"nDCG@10 {100 * sum(so_far) / len(so_far):.1f}")
    return [done[way.name, topic.id] for topic in topics for way in WAYS]


def _kept(folder: RunFolder) -> list[Found]:
    path = folder.path / FOUND
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    try:
        return [Found.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise RunUnusable(f"{path}: {error.errors()[0]['msg']}. Choose another folder with --out") from error


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
