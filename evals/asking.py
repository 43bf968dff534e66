"""One question put to one agent, and everything worth keeping of what came back. Knows no file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from ..agent.agent import Agent
from ..agent.answer import Answer, Citation, RefinePass, Shown, Trace
from ..agent.errors import ModelFailed
from ..agent.events import AnswerReady, DraftMade, DraftRefined
from ..agent.named import unheard
from ..agent.options import AgentOptions
from ..dllm.draft import Draft
from .backend import Backend
from .library import Library
from .official import scores
from .question import Fact, Question

Clock = Callable[[], float]
HEADLINES = {"f1": "F1", "handled": "handled"}
"""The one score that stands for a row, by what was measured."""
RECALL_AT = (2, 5, 10)


class Row(BaseModel):
    """An answer beside what is right and what it is worth. One line of `rows.jsonl`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: str
    id: str
    repeat: int = 0
    question: str
    type: str = ""
    level: str = ""
    answers: tuple[str, ...]
    gold: tuple[Fact, ...] | None
    answer: str
    """What is scored: the answer, or the draft that stood when the agent abstained and had to say something."""
    facts: tuple[Fact, ...]
    confidence: float
    answerable: float = 1.0
    """How likely the model held the evidence to carry an answer when it wrote the draft that stood last."""
    unheard: tuple[str, ...] = ()
    """The question's names, where what was read has none of them."""
    abstained: bool
    handed_over: bool = False
    """Whether an agent that can passed the question on to a person."""
    scores: dict[str, float]
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Shown, ...] = ()
    left_out: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    passes: tuple[RefinePass, ...] = ()
    refinements: int = 0
    tokens: int = 0
    """How many the answer has: the model's own where it tells them apart, else words."""
    seconds: dict[str, float]
    """By stage; `total` is what a caller waits from question to answer, `first_draft` until the first draft. `draft.*`
    are parts of drafting that the model told apart."""
    stopped: str = ""
    errors: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, int]:
        return self.backend, self.id, self.repeat

    @property
    def headline(self) -> tuple[str, float]:
        """How it is called, and the score in 0..1."""
        return next((shown, self.scores[name]) for name, shown in HEADLINES.items() if name in self.scores)


@dataclass(slots=True)
class _Heard:
    """What the stream of one question brought."""

    answer: Answer | None = None
    failure: ModelFailed | None = None
    standing: Draft | None = None
    first_draft: float | None = None
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        heard = self.answer or self.failure
        assert heard is not None, "a run ends with an answer or says why not"
        return heard.trace

    @property
    def abstained(self) -> bool:
        return self.answer is None or self.answer.abstained

    def said(self, *, may_abstain: bool) -> str:
        if self.answer and not self.answer.abstained:
            return self.answer.text
        return self.standing.text if self.standing and not may_abstain else ""


def ask(
    question: Question,
    backend: Backend,
    library: Library,
    *,
    options: AgentOptions,
    may_abstain: bool = False,
    repeat: int = 0,
    clock: Clock = time.perf_counter,
) -> Row:
    """Asks and scores. A model that fails costs the question, not the run."""
    agent = Agent(library.retriever, backend.generator, documents=library.document, options=options, clock=clock)
    begin = clock()
    heard = _heard(agent, question.text, clock)
    total = clock() - begin
    trace, said = heard.trace, heard.said(may_abstain=may_abstain)
    citations = heard.answer.citations if heard.answer else ()
    facts = library.facts(citations)
    first = total if heard.first_draft is None else heard.first_draft - begin
    return Row(
        backend=backend.name,
        id=question.id,
        repeat=repeat,
        question=question.text,
        type=question.type,
        level=question.level,
        answers=question.answers,
        gold=question.facts,
        answer=said,
        facts=facts,
        confidence=heard.answer.confidence if heard.answer else 0.0,
        answerable=heard.standing.answerable if heard.standing else 0.0,
        unheard=unheard(question.text, read(trace)),
        abstained=heard.abstained,
        scores=scores(said, facts, question.answers, question.facts)
        | recall(question, trace, options.top_k if library.ranked else 0),
        citations=citations,
        evidence=trace.evidence,
        left_out=trace.left_out,
        searches=tuple(hop.query for hop in trace.hops),
        passes=trace.passes,
        refinements=len(trace.refinements),
        tokens=_tokens(heard.standing, said),
        seconds={**dict[str, float](trace.seconds.items()), **heard.parts, "first_draft": first, "total": total},
        stopped=trace.stopped,
        errors=(*trace.errors, *([str(heard.failure)] if heard.failure else [])),
    )


def read(trace: Trace) -> Iterator[str]:
    """The passages that the answer was read from, with their titles."""
    texts = {hit.passage_id: f"{hit.title} {hit.text}" for hop in trace.hops for hit in hop.hits}
    return (texts[shown.passage_id] for shown in trace.evidence if shown.passage_id in texts)


def recall(question: Question, trace: Trace, top_k: int) -> dict[str, float]:
    """The share of the gold paragraphs, by title, among the first hits of the first search, up to `top_k`, and among all
    that the model read in the end."""
    if not question.gold_titles or not trace.hops:
        return {}
    first = [hit.title for hit in trace.hops[0].hits]
    read = [shown.title for shown in trace.evidence if shown.passage_id not in trace.left_out]
    lists = {f"recall@{k}": first[:k] for k in RECALL_AT if k <= top_k} | {"recall_read": read}
    return {name: len(question.gold_titles & set(found)) / len(question.gold_titles) for name, found in lists.items()}


def _tokens(standing: Draft | None, said: str) -> int:
    if standing and said == standing.text and standing.tokens:
        return len(standing.tokens)
    return len(said.split())


def _heard(agent: Agent, question: str, clock: Clock) -> _Heard:
    heard = _Heard()
    try:
        for event in agent.stream(question):
            if isinstance(event, AnswerReady):
                heard.answer = event.answer
            elif isinstance(event, DraftMade):
                heard.first_draft = heard.first_draft or clock()
                for name, seconds in event.draft.stages.items():
                    heard.parts[f"draft.{name}"] = heard.parts.get(f"draft.{name}", 0.0) + seconds
                # As in the agent's loop: a later draft that says nothing replaces none.
                heard.standing = event.draft if event.draft.text or not heard.standing else heard.standing
            elif isinstance(event, DraftRefined):
                heard.standing = event.draft
    except ModelFailed as failure:
        heard.failure = failure
    return heard
