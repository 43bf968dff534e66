"""What a run writes down as it goes, and the trace made of it. The only mutable record; one per question."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..dllm.draft import CanvasPass, Draft
from ..retrieval.document import Hit, Passage
from .answer import (
    Candidate,
    Doubt,
    Found,
    Hop,
    Occasion,
    Refinement,
    RefinePass,
    Shown,
    Stage,
    Stopped,
    ToolCall,
    Trace,
    Verdict,
)
from .evidence import Reading

STAGES: tuple[Stage, ...] = ("retrieve", "draft", "refine", "cite")


@dataclass(slots=True)
class Notes:
    question: str
    generator: str
    scorer: str
    seed: int
    clock: Callable[[], float]
    asked: str = ""
    request_id: str = ""
    hops: list[Hop] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    passes: list[RefinePass] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    refinements: list[Refinement] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: dict[Stage, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    stopped: Stopped = ""
    runs: int = 0
    """How many times the model was started."""

    @contextmanager
    def timed(self, stage: Stage) -> Iterator[None]:
        """Adds what passes inside to a stage. Never hold it over a yield: the reader of a stream takes its own time."""
        begin = self.clock()
        try:
            yield
        finally:
            self.seconds[stage] += self.clock() - begin

    @property
    def spent_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def spent_passes(self) -> int:
        return sum(made.index > 0 for made in self.passes)

    def hop(self, query: str, occasion: Occasion, hits: Sequence[Hit], new: Sequence[Passage]) -> Hop:
        found = tuple(_found(rank, hit) for rank, hit in enumerate(hits, 1))
        added = tuple(dict.fromkeys(passage.id for passage in new))
        self.hops.append(Hop(query=query, occasion=occasion, hits=found, added=added))
        return self.hops[-1]

    def made(self, stage: Stage, made: CanvasPass) -> RefinePass:
        self.passes.append(
            RefinePass(
                run=self.runs,
                stage=stage,
                index=made.index,
                canvas=made.canvas,
                committed=made.committed,
                masked=made.masked,
                remasked=tuple(made.remasked),
                reason=made.reason,
                seconds=made.seconds,
            )
        )
        return self.passes[-1]

    def trace(self, reading: Reading | None = None, draft: Draft | None = None, doubts: Sequence[Doubt] = ()) -> Trace:
        """As of now. The evidence is what the given draft was read from."""
        passages = reading.passages if reading else ()
        return Trace.model_validate(
            {
                "question": self.question,
                "asked": self.asked,
                "request_id": self.request_id,
                "generator": self.generator,
                "scorer": self.scorer,
                "seed": self.seed,
                "hops": tuple(self.hops),
                "calls": tuple(self.calls),
                "evidence": shown(reading) if reading else (),
                "left_out": tuple(passages[i].id for i in (draft.left_out if draft else ()) if 0 <= i < len(passages)),
                "candidates": tuple(self.candidates),
                "refinements": tuple(self.refinements),
                "passes": tuple(self.passes),
                "doubts": tuple(doubts),
                "stopped": self.stopped,
                "errors": tuple(self.errors),
                "seconds": dict(self.seconds) | {"total": self.spent_seconds},
            }
        )


def shown(reading: Reading) -> tuple[Shown, ...]:
    return tuple(
        Shown(number=number, passage_id=p.id, document_id=p.document_id, title=p.title)
        for number, p in enumerate(reading.passages)
    )


def _found(rank: int, hit: Hit) -> Found:
    passage = hit.passage
    return Found(
        rank=rank,
        score=hit.score,
        passage_id=passage.id,
        document_id=passage.document_id,
        title=passage.title,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        rankers={name: Verdict(rank=ranked.rank, score=ranked.score) for name, ranked in hit.rankers.items()},
    )
