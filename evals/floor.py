"""The floor: no model at all. The sentence that BM25 ranks first is the answer. Whoever reads should do better."""

import time
from collections.abc import Iterator

from ..dllm.draft import CanvasPass, Draft, Passes, Prompt, Source
from ..retrieval.lexical import LexicalIndex
from .rewriter import Rewriter


class SentenceFloor(Rewriter):
    """A `Generator` that quotes one sentence, or nothing where none shares a word with the question."""

    name = "floor"

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """One pass, one draft, whatever is asked for."""
        begin = time.perf_counter()
        sources = list(_sentences(prompt))
        texts = [_said(prompt, source) for source in sources]
        found = LexicalIndex.build(texts).search(prompt.question, 1) if texts else []
        seconds = time.perf_counter() - begin
        text = texts[found[0][0]] if found else ""
        yield CanvasPass(1, text, len(found), 0, seconds=seconds)
        if not found:
            return [Draft("", kind="none", answerable=0.0, passes=1, seconds=seconds)]
        cited = (sources[found[0][0]],)
        return [Draft(text, kind="sentences", confidence=1.0, cited=cited, passes=1, seconds=seconds)]


def _sentences(prompt: Prompt) -> Iterator[Source]:
    for number, evidence in enumerate(prompt.evidence):
        for start, end in evidence.sentences or ((0, len(evidence.text)),):
            if evidence.text[start:end].strip():
                yield Source(number, start, end)


def _said(prompt: Prompt, source: Source) -> str:
    return prompt.evidence[source.evidence].text[source.start : source.end].strip()
