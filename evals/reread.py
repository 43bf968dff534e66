"""A support scorer that reads again: the model is shown the quotations alone, and must say the same."""

from ..dllm.draft import Evidence, Generator, Prompt, finish
from ..dllm.score import f1
from ..retrieval.sentences import sentences


class Reread:
    """A `Scorer`: the best word F1 between the statement and what the model drafts from the evidence alone. An empty
    statement (yes, no) gets how likely the model holds the evidence to carry an answer.

    Not independent of the model that answered, but of the way it found its evidence: it catches quotations that don't
    tell on their own.
    """

    def __init__(self, generator: Generator, *, candidates: int = 3) -> None:
        self.name = f"reread by {generator.name}"
        self._generator, self._candidates = generator, candidates

    def __call__(self, question: str, statement: str, evidence: str) -> float:
        spans = tuple((s.start, s.end) for s in sentences(evidence))
        prompt = Prompt(question, (Evidence(evidence, sentences=spans),))
        drafts = finish(self._generator.draft(prompt, candidates=self._candidates))
        if not statement:
            return drafts[0].answerable if drafts else 0.0
        return max((f1(draft.text, statement) for draft in drafts if draft.kind != "none"), default=0.0)
