"""The agent's loop: one question, from search to cited answer. Knows protocols, no model and no index."""

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as Steps
from contextlib import closing
from dataclasses import dataclass

from ..dllm.draft import Draft, Generator, Passes
from ..dllm.errors import ModelError
from ..retrieval.document import Document, Passage, Retriever, Scalar
from .answer import Answer, Doubt, Occasion, Refinement, Stage, Stopped
from .calibration import calibrated
from .carried import uncarried, without
from .cite import cite
from .doubt import doubts, reason, spans
from .errors import ModelFailed
from .events import (
    AnswerReady,
    CitationsFound,
    DraftMade,
    DraftRefined,
    Event,
    EvidenceFound,
    PassMade,
    StageBegan,
    ToolCalled,
)
from .evidence import Reading, merge
from .notes import Notes, shown
from .options import AgentOptions
from .support import Scorer
from .tools.results import Results
from .tools.toolbox import Toolbox, Wanted
from .verify import standing, why_abstain
from .weigh import Weighed, candidate, weigh

ABSTENTION = "The documents do not answer this question."

Events = Steps[Event, None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a run works with. `documents` gives a document by its id and raises KeyError where there is none; without it
    quotations are taken from the passages as they were indexed and not checked again."""

    retriever: Retriever
    generator: Generator
    documents: Callable[[str], Document] | None
    options: AgentOptions
    scorer: Scorer
    clock: Callable[[], float]
    toolbox: Toolbox | None = None


class Run:
    """`events` may be run once. Closing it stops the model before its next pass."""

    def __init__(
        self,
        tools: Tools,
        question: str,
        where: Mapping[str, Scalar] | None = None,
        *,
        asked: str = "",
        request_id: str = "",
    ) -> None:
        self._tools, self._options, self._question, self._where = tools, tools.options, question, where
        self._notes = Notes(
            question,
            tools.generator.name,
            tools.scorer.name,
            tools.options.seed,
            tools.clock,
            asked="" if asked == question else asked,
            request_id=request_id,
        )
        self._passages: list[Passage] = []
        self._results = Results()

    def events(self) -> Events:
        yield from self._call_tools()
        drafts = yield from self._from_results()
        if not drafts:
            yield from self._search(self._question, "question")
            if not self._passages:
                self._notes.stopped = "nothing found"
                yield AnswerReady(answer=self._abstained("no passage was found for this question", None))
                return
            drafts = yield from self._draft(first=True)
            drafts = yield from self._searched_again(drafts)
        best, rivals = drafts[0], drafts[1:]
        best = yield from self._repaired(best, rivals)
        best = yield from self._carried(best)
        yield from self._concluded(best, rivals)

    # Tools.

    def _call_tools(self) -> Steps[Event, None, None]:
        """Calls what the question asks for. Results are evidence, as documents are; they call nothing themselves."""
        if self._tools.toolbox is None:
            return
        try:
            with self._notes.timed("retrieve"):
                wanted = self._tools.toolbox.wanted(self._question)
        except ModelError as error:
            self._notes.errors.append(f"{type(error).__name__}: {error}")
            return
        for call in wanted:
            if call.tool is None:
                yield from self._search(str(call.arguments["query"]), "tool call")
            else:
                yield from self._call(self._tools.toolbox, call)

    def _call(self, toolbox: Toolbox, wanted: Wanted) -> Steps[Event, None, None]:
        yield StageBegan(stage="retrieve", detail=f"{wanted.name} {json.dumps(wanted.arguments, default=str)}")
        with self._notes.timed("retrieve"):
            call, document = toolbox.run(wanted)
        self._notes.calls.append(call)
        if document is not None:
            self._passages = [*self._passages, *self._results.add(document)][: self._options.max_evidence]
        yield ToolCalled(call=call)

    def _from_results(self) -> Steps[Event, None, list[Weighed]]:
        """Drafts from what tools gave alone, heaviest first; empty where that carries no answer. Documents that happen to use
        the same words would only compete with the one thing that was asked for."""
        if not self._results:
            return []
        drafts = yield from self._draft(first=True)
        best, options = drafts[0], self._options
        carries = best.answers and best.weight >= options.min_confidence
        return drafts if carries and best.draft.answerable >= options.min_answerable else []

    # Searching.

    def _search(self, query: str, occasion: Occasion) -> Steps[Event, None, bool]:
        """Whether the model has something new to read. Passages that are known already don't take new ones' places."""
        yield StageBegan(stage="retrieve", detail=query)
        known = {passage.id for passage in self._passages}
        with self._notes.timed("retrieve"):
            hits = self._tools.retriever.search(query, self._options.top_k + len(known), where=self._where)
        new = [hit.passage for hit in hits if hit.passage.id not in known][: self._options.top_k]
        self._passages = merge(self._passages, new, self._options.max_evidence)
        hop = self._notes.hop(query, occasion, hits, new)
        reading = Reading.of(self._question, self._passages)
        yield EvidenceFound(number=len(self._notes.hops), hop=hop, shown=shown(reading))
        return bool(new)

    def _searched_again(self, drafts: list[Weighed]) -> Steps[Event, None, list[Weighed]]:
        """Further hops with the draft as the query. Drafts from more evidence replace those from less, unless they say
        nothing: confidences of different prompts can't be compared."""
        for _ in range(self._options.extra_hops):
            further = self._further_query(drafts[0])
            if further is None or self._out_of_budget():
                break
            if not (yield from self._search(*further)):
                break
            again = yield from self._draft(first=False)
            if again and (again[0].answers or not drafts[0].answers):
                drafts = again
        return drafts

    def _further_query(self, best: Weighed) -> tuple[str, Occasion] | None:
        bridge = best.draft.bridge.strip()
        if bridge and not any(bridge.casefold() == passage.title.strip().casefold() for passage in self._passages):
            return f"{self._question} {bridge}", "bridge"
        if best.answers and best.weight < self._options.weak_below:
            return f"{self._question} {best.draft.text}", "weak draft"
        return None

    # The model.

    def _draft(self, *, first: bool) -> Steps[Event, None, list[Weighed]]:
        """All candidates, heaviest first; empty where a further draft was cut short."""
        reading = Reading.of(self._question, self._passages)
        yield StageBegan(stage="draft")

        def start() -> Passes:
            return self._tools.generator.draft(
                reading.prompt,
                candidates=self._options.candidates,
                max_passes=self._passes_left(),
                seed=self._options.seed + self._notes.runs - 1,
            )

        drafts = yield from self._watched("draft", start, first=first)
        weighed = self._weighed(drafts, reading, "draft")
        if weighed:
            yield DraftMade(draft=weighed[0].draft, candidates=tuple(candidate(w, "draft") for w in weighed))
        return weighed

    def _refine(self, best: Weighed, found: Sequence[Doubt]) -> Steps[Event, None, Weighed | None]:
        why = reason(found)
        yield StageBegan(stage="refine", detail=why)

        def start() -> Passes:
            return self._tools.generator.refine(
                best.reading.prompt,
                best.draft,
                spans(found),
                reason=why,
                max_passes=self._passes_left(),
                seed=self._options.seed + self._notes.runs - 1,
            )

        drafts = yield from self._watched("refine", start, first=False)
        return next(iter(self._weighed(drafts, best.reading, "refine")), None)

    def _watched(self, stage: Stage, start: Callable[[], Passes], *, first: bool) -> Steps[Event, None, list[Draft]]:
        """Runs the model. A further run that runs out of time or fails gives no drafts, a first one always some."""
        self._notes.runs += 1
        try:
            with closing(start()) as passes:
                while True:
                    try:
                        with self._notes.timed(stage):
                            made = next(passes)
                    except StopIteration as stop:
                        drafts: list[Draft] = stop.value
                        break
                    yield PassMade(made=self._notes.made(stage, made))
                    if not first and self._out_of_seconds():
                        self._notes.stopped = "out of seconds"
                        return []
        except ModelError as error:
            return self._failed(error, first)
        if first and not drafts:
            raise self._failure("it returned no draft at all")
        return drafts

    def _failed(self, error: ModelError, first: bool) -> list[Draft]:
        self._notes.errors.append(f"{type(error).__name__}: {error}")
        self._notes.stopped = "model failed"
        if first:
            raise self._failure(str(error)) from error
        return []

    def _failure(self, what: str) -> ModelFailed:
        trace = self._notes.trace(Reading.of(self._question, self._passages))
        return ModelFailed(f"the model {self._tools.generator.name!r} gave no answer: {what}", trace)

    def _weighed(self, drafts: Sequence[Draft], reading: Reading, stage: Stage) -> list[Weighed]:
        with self._notes.timed(stage):
            share = self._options.support_share
            weighed = [weigh(draft, reading, self._tools.scorer, support_share=share) for draft in drafts]
        weighed.sort(key=lambda w: -w.weight)
        self._notes.candidates += [candidate(w, stage) for w in weighed]
        return weighed

    # Refining.

    def _repaired(self, best: Weighed, rivals: Sequence[Weighed]) -> Steps[Event, None, Weighed]:
        """Re-masks what is doubtful until nothing is, nothing gets better, or a budget is spent."""
        for _ in range(self._options.max_refinements):
            found = doubts(best, rivals, self._options)
            if not found or self._out_of_budget():
                break
            refined = yield from self._refine(best, found)
            if refined is None:
                break
            kept = refined.weight >= best.weight + self._options.min_gain and refined.answers
            self._notes.refinements.append(
                Refinement(before=best.draft.text, after=refined.draft.text, doubts=found, kept=kept)
            )
            best = refined if kept else best
            yield DraftRefined(draft=best.draft, doubts=found, kept=kept)
            if not kept:
                self._notes.stopped = self._notes.stopped or "stable"
                break
        if not self._notes.stopped and not best.answers:
            self._notes.stopped = "no answer"
        if not self._notes.stopped:
            self._notes.stopped = "out of rounds" if doubts(best, rivals, self._options) else "supported"
        return best

    def _passes_left(self) -> int:
        return max(1, min(self._options.run_passes, self._options.max_passes - self._notes.spent_passes))

    def _out_of_budget(self) -> bool:
        over: Stopped = "out of passes" if self._notes.spent_passes >= self._options.max_passes else ""
        over = "out of seconds" if self._out_of_seconds() else over
        self._notes.stopped = self._notes.stopped or over
        return bool(self._notes.stopped)

    def _out_of_seconds(self) -> bool:
        limit = self._options.max_seconds
        return limit is not None and self._notes.spent_seconds >= limit

    def _carried(self, best: Weighed) -> Steps[Event, None, Weighed]:
        """Without the statements that nothing carries, where they are to be dropped."""
        if self._options.unsupported != "drop" or not (found := uncarried(best)):
            return best
        with self._notes.timed("refine"):
            draft = without(best.draft, [(doubt.start, doubt.end) for doubt in found])
            share = self._options.support_share
            rest = weigh(draft, best.reading, self._tools.scorer, support_share=share)
        self._notes.refinements.append(
            Refinement(before=best.draft.text, after=rest.draft.text, doubts=found, kept=True)
        )
        yield DraftRefined(draft=rest.draft, doubts=found, kept=True)
        return rest

    # Concluding.

    def _concluded(self, best: Weighed, rivals: Sequence[Weighed]) -> Events:
        yield StageBegan(stage="cite")
        with self._notes.timed("cite"):
            documents = self._tools.documents
            known = self._results.beside(documents) if documents else None
            citations = standing(cite(best.draft, best.reading, self._tools.scorer), known)
            why = why_abstain(best, citations, self._options)
            doubtful = doubts(best, rivals, self._options)
        if why:
            yield AnswerReady(answer=self._abstained(why, best))
            return
        yield CitationsFound(citations=citations)
        draft = best.draft
        yield AnswerReady(
            answer=Answer(
                text=draft.text,
                kind=draft.kind,
                citations=citations,
                confidence=calibrated(best.weight, self._options.calibration),
                abstained=False,
                trace=self._notes.trace(best.reading, draft, doubtful),
            )
        )

    def _abstained(self, why: str, best: Weighed | None) -> Answer:
        trace = self._notes.trace(best.reading, best.draft) if best else self._notes.trace()
        confidence = best.weight if best and best.answers else 0.0
        return Answer(text=ABSTENTION, kind="none", confidence=confidence, abstained=True, reason=why, trace=trace)
