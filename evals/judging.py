"""`remask eval ragas`: a finished run, scored by ragas: nothing is asked again but the judge, where one is given."""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..agent.console import output
from ..dllm.errors import BackendUnavailable, ModelError
from ..dllm.hosted.ask import Ask
from ..dllm.hosted.client import Client
from ..dllm.hosted.endpoint import Endpoint, openai
from ..retrieval import Index, default_embedder, load_embedder
from .asking import Row
from .dataset import read_questions
from .errors import RunUnusable
from .folder import read_rows, read_settings, to_json
from .interval import Interval, mean
from .library import given
from .machine import Circumstances, circumstances
from .meter import meter
from .question import Question
from .ragas import Judge, Sample, Score, check_installed, embedded, judged, offline
from .summary import by_backend
from .table import percent, table

_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)


class Judged(BaseModel):
    """Of one backend. A metric is over the questions that ragas scored; `unscored` counts the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: str
    questions: int
    metrics: dict[str, Interval]
    unscored: dict[str, int]


class JudgedReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run: dict[str, Any]
    judge: str
    embedder: str
    circumstances: Circumstances
    judged: tuple[Judged, ...]


def run(
    folder: Path,
    *,
    data: Path,
    index: Path | None = None,
    judge: str | None = None,
    embedder: str | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> JudgedReport:
    """Writes ragas.json, ragas.md and ragas.jsonl into the run's folder. `data` is the file that the run asked, `index` the
    index that it searched, if it did; `judge` is URL#MODEL. Raises what a missing ragas or a judge out of reach raise."""
    check_installed()
    settings = read_settings(folder)
    endpoint = openai(judge) if judge else None
    vectors = load_embedder(embedder) if embedder else default_embedder()
    rows = [row for mine in by_backend(read_rows(folder)) for row in mine[:limit] if row.repeat == 0]
    if not rows:
        raise RunUnusable(f"{folder}: holds no answer yet. Run it again to go on")
    made = samples(rows, data, index)
    scored = asyncio.run(_scored(rows, made, offline() | embedded(vectors), endpoint, vectors))
    found = JudgedReport(
        run=settings,
        judge=f"{endpoint.model} at {endpoint.shown_url}" if endpoint else "",
        embedder=vectors.name,
        circumstances=circumstances(),
        judged=tuple(_judged(mine, scored, seed=seed) for mine in by_backend(rows)),
    )
    lines = ({"backend": r.backend, "id": r.id, **scored[r.key]} for r in rows)
    (folder / "ragas.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "ragas.json").write_text(to_json(found.model_dump(mode="json")), encoding="utf-8")
    (folder / "ragas.md").write_text(markdown(found), encoding="utf-8")
    return found


def samples(rows: Sequence[Row], data: Path, index: Path | None) -> list[Sample]:
    """What each answer was read from, looked up again. Raises RunUnusable where the data or the index is not the run's."""
    questions = {question.id: question for question in read_questions(data)}
    passages = {passage.id: passage.text for passage in Index.open(index).passages} if index else {}
    made = []
    for row in rows:
        question = questions.get(row.id)
        if question is None:
            raise RunUnusable(f"{data}: has no question {row.id!r}, which the run asked. Give the file of the run")
        texts = passages if index else _own(question)
        lost = next((shown.passage_id for shown in row.evidence if shown.passage_id not in texts), None)
        if lost is not None:
            where = "the index" if index else "the question's paragraphs; give the run's --index if it searched one"
            raise RunUnusable(f"the passage {lost!r}, which the run read, is not in {where}")
        made.append(
            Sample(
                question=row.question,
                answer="" if row.abstained and not row.answer else row.answer,
                contexts=[texts[shown.passage_id] for shown in row.evidence],
                context_names=[shown.title for shown in row.evidence],
                reference=row.answers[0] if row.answers else "",
                references=sorted(question.gold_titles),
            )
        )
    return made


def _own(question: Question) -> dict[str, str]:
    """What a question came with, by the ids that its passages get when it is asked."""
    hits = given(question).retriever.search(question.text, len(question.paragraphs))
    return {hit.passage.id: hit.passage.text for hit in hits}


def markdown(found: JudgedReport) -> str:
    names = list(dict.fromkeys(name for each in found.judged for name in each.metrics))
    rows = (
        [
            each.backend,
            str(each.questions),
            *(f"{percent(each.metrics.get(n))} (n = {each.metrics[n].n})" if n in each.metrics else "–" for n in names),
        ]
        for each in found.judged
    )
    where = found.circumstances
    facts = [f"command: `{where.command}`", f"commit: {where.commit or 'not from a checkout'}; {where.time}"]
    facts += [f"judge: {found.judge or 'none; faithfulness and relevancy need one'}", f"vectors: {found.embedder}"]
    facts += [f"{name}: {value}" for name, value in found.run.items() if not isinstance(value, dict | list)]
    facts += [f"not scored by ragas for {each.backend}: {each.unscored}" for each in found.judged if each.unscored]
    return (
        "\n\n".join(
            [
                f"# Ragas on {found.run.get('data', 'a run')}",
                "In percent, with bootstrap 95% intervals over the questions that ragas gave a number for; n says how many.",
                table(["backend", "questions", *names], rows),
                "\n".join(f"- {fact}" for fact in facts),
            ]
        )
        + "\n"
    )


def tell(found: JudgedReport, folder: Path) -> None:
    output().print(f"{markdown(found)}\n{folder / 'ragas.md'}")


async def _scored(
    rows: Sequence[Row], made: Sequence[Sample], scores: Mapping[str, Score], endpoint: Endpoint | None, vectors: Any
) -> dict[tuple[str, str, int], dict[str, float | None]]:
    """A number or None for each row and metric."""
    found: dict[tuple[str, str, int], dict[str, float | None]] = {}
    async with _judge(endpoint) as judge:
        asked = {**scores, **(judged(judge, vectors) if judge else {})}
        with meter("judging", len(rows)) as tell_so_far:
            for number, (row, sample) in enumerate(zip(rows, made, strict=True), 1):
                found[row.key] = {name: await _one(score, sample) for name, score in asked.items()}
                tell_so_far(number, "")
    return found


async def _one(score: Score, sample: Sample) -> float | None:
    """None where the metric has nothing to score, or the judge said nothing that fits. A judge out of reach leaves."""
    try:
        value = await score(sample)
    except BackendUnavailable:
        raise
    except (ModelError, ValidationError):
        return None
    return None if math.isnan(value) else value


@asynccontextmanager
async def _judge(endpoint: Endpoint | None) -> AsyncIterator[Judge | None]:
    if endpoint is None:
        yield None
        return
    client = Client(endpoint)

    async def judge(prompt: str, schema: Mapping[str, Any]) -> str:
        ask = Ask(messages=[{"role": "user", "content": prompt}], streamed=False, schema=schema)
        said = ""
        async for reply in client.replies(ask):
            said = reply.text
        fenced = _FENCE.match(said)
        return fenced[1] if fenced else said

    try:
        yield judge
    finally:
        await client.close()


def _judged(
    rows: Sequence[Row], scored: Mapping[tuple[str, str, int], Mapping[str, float | None]], *, seed: int
) -> Judged:
    names = list(dict.fromkeys(name for row in rows for name in scored[row.key]))
    columns = {name: [v for row in rows if (v := scored[row.key].get(name)) is not None] for name in names}
    return Judged(
        backend=rows[0].backend,
        questions=len(rows),
        metrics={name: mean(values, seed=seed) for name, values in columns.items() if values},
        unscored={name: len(rows) - len(values) for name, values in columns.items() if len(values) < len(rows)},
    )
