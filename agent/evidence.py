"""The passages a model was given, kept with the prompt made of them: what a draft points at is looked up here."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..dllm.draft import Evidence, Prompt, Source
from ..retrieval.document import Passage, Span
from ..retrieval.sentences import sentences


@dataclass(frozen=True, slots=True)
class Quote:
    """Whole sentences of one passage. `start` and `end` count characters of the passage."""

    passage: Passage
    evidence: int
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def in_context(self) -> str:
        """With the title, which often names what the sentence calls "it"."""
        return f"{self.passage.title}: {self.text}" if self.passage.title else self.text


@dataclass(frozen=True, slots=True)
class Reading:
    """`prompt.evidence[i]` is `passages[i]`, so a source is resolved through the very list that the model saw."""

    passages: tuple[Passage, ...]
    prompt: Prompt

    @classmethod
    def of(cls, question: str, passages: Iterable[Passage]) -> "Reading":
        shown = tuple(passages)
        return cls(shown, Prompt(question, tuple(map(_evidence, shown))))

    def quote(self, source: Source) -> Quote | None:
        """The source widened to the sentences it touches; None where it points at nothing that could be quoted."""
        if not 0 <= source.evidence < len(self.passages):
            return None
        evidence = self.prompt.evidence[source.evidence]
        start, end = max(source.start, 0), min(source.end, len(evidence.text))
        if start >= end or not evidence.text[start:end].strip():
            return None
        touched = [(s, e) for s, e in evidence.sentences if s < end and start < e] or [(start, end)]
        return self._trimmed(source.evidence, touched[0][0], touched[-1][1])

    def quotes(self) -> Iterator[Quote]:
        """Every sentence, in the order of the prompt."""
        for number, evidence in enumerate(self.prompt.evidence):
            for start, end in evidence.sentences:
                yield Quote(self.passages[number], number, start, end)

    def _trimmed(self, evidence: int, start: int, end: int) -> Quote:
        text = self.passages[evidence].text[start:end]
        start += len(text) - len(text.lstrip())
        return Quote(self.passages[evidence], evidence, start, start + len(text.strip()))


def merge(before: Sequence[Passage], found: Sequence[Passage], limit: int) -> list[Passage]:
    """Both lists in turns, best first, each passage once: a window that cuts off the end loses the tail of both."""
    both = [p for pair in zip_longest(before, found) for p in pair if p is not None]
    return list({passage.id: passage for passage in both}.values())[:limit]


def _evidence(passage: Passage) -> Evidence:
    spans = passage.sentences or [Span(passage.start + s.start, passage.start + s.end) for s in sentences(passage.text)]
    inside = ((s.start - passage.start, s.end - passage.start) for s in spans)
    return Evidence(passage.text, passage.title, tuple((s, e) for s, e in inside if passage.text[s:e].strip()))
