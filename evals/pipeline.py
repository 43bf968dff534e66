"""The baseline of many stages: what was found is ranked again, the best is read, an answer written, then checked and cited.

The shape of most production systems: a retriever, a cross-encoder, a language model, and the same model once more. Each
stage is timed.
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..dllm.draft import CanvasPass, Draft, Evidence, Passes, Prompt, Source
from ..dllm.errors import PromptTooLong
from ..dllm.score import f1
from .autoregressive import AutoregressiveReader, watched
from .prompts import CHECK, prompt_of, written
from .rewriter import Rewriter

KEPT = 4
"""Passages that the model reads, the best ones after ranking again. More cost time; two-hop questions need two."""
CHECK_TOKENS = 24
Scores = Callable[[str, Sequence[str]], Sequence[float]]
"""From a question and texts to how near each is; `CrossEncoder.scores` is one."""


class _Check(NamedTuple):
    supported: bool
    title: str
    seconds: float
    passes: int


class PipelineReader(Rewriter):
    """A `Generator`. Cites the sentence of the passage that the check names; the draft says it is unanswerable where the
    check finds no passage that carries it."""

    name = "pipeline"

    def __init__(self, reader: AutoregressiveReader, scores: Scores, *, kept: int = KEPT) -> None:
        self.reader, self._scores, self._kept = reader, scores, kept
        self._check = prompt_of(CHECK)

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """One draft, whatever is asked for."""
        begin = time.perf_counter()
        order = self._ranked(prompt)
        ranked = time.perf_counter() - begin
        read = Prompt(prompt.question, tuple(prompt.evidence[at] for at in order))
        (draft,) = yield from self.reader.draft(read)
        check = yield from self._checked(read, draft)
        skipped = [order[at] for at in draft.left_out]
        return [
            replace(
                draft,
                answerable=1.0 if check.supported else 0.0,
                cited=tuple(replace(one, evidence=order[one.evidence]) for one in _cited(read, draft, check.title)),
                left_out=tuple(sorted({*range(len(prompt.evidence))} - {*order} | {*skipped})),
                passes=draft.passes + check.passes,
                seconds=time.perf_counter() - begin,
                stages={"rerank": ranked, **draft.stages, "check": check.seconds},
            )
        ]

    def _ranked(self, prompt: Prompt) -> list[int]:
        """The indexes of the nearest passages, nearest first; equally near ones stay in their order."""
        texts = [f"{one.title}: {one.text}" if one.title else one.text for one in prompt.evidence]
        near = self._scores(prompt.question, texts)
        return sorted(range(len(texts)), key=lambda at: -near[at])[: self._kept]

    def _checked(self, read: Prompt, draft: Draft) -> Generator[CanvasPass, None, _Check]:
        """The model again, over the same examples and passages, which need not be read again: which of them says so?"""
        if not draft.text:
            return _Check(False, "", 0.0, 0)
        begin = time.perf_counter()
        shown = [one for at, one in enumerate(read.evidence) if at not in draft.left_out]
        asked = written(self._check.text, read.question, shown, answer=draft.text)
        try:
            steps = self.reader.writer.write(asked, max_tokens=CHECK_TOKENS, examples=self.reader.template.examples)
            made = yield from watched(steps, begin=draft.passes)
        except PromptTooLong:  # the check is longer than the question was
            made = []
        said = made[-1].text.strip() if made else ""
        return _Check(not said.lower().startswith("none"), said, time.perf_counter() - begin, len(made))


def _cited(read: Prompt, draft: Draft, named: str) -> tuple[Source, ...]:
    """In the passage whose title is nearest to what was named, the sentence that says the answer, or has most of its
    words and the question's."""
    if not draft.text or not read.evidence:
        return ()
    at = max(range(len(read.evidence)), key=lambda i: f1(read.evidence[i].title, named))
    evidence = read.evidence[at]
    wanted = f"{read.question} {draft.text}"
    start, end = max(_sentences(evidence), key=lambda s: _nearness(evidence.text[slice(*s)], draft.text, wanted))
    return (Source(at, start, end),)


def _sentences(evidence: Evidence) -> Sequence[tuple[int, int]]:
    return [(a, b) for a, b in evidence.sentences if evidence.text[a:b].strip()] or [(0, len(evidence.text))]


def _nearness(sentence: str, answer: str, wanted: str) -> tuple[bool, float]:
    return answer.lower() in sentence.lower(), f1(sentence, wanted)
