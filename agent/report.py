"""A report on one question: the answer, the steps to it, what each document says, and where documents contradict each other.

Every statement is a quotation with its place. Nothing is written that no document carries, so there is no summary in other
words; a model that writes gives a fluent answer at the top, cited all the same.
"""

from collections.abc import Iterator

from .agent import Agent
from .answer import Answer, Citation, Record
from .versions import Version, VersionOptions, Versions, disagreements


class Statement(Record):
    """A quoted sentence, or several that stand together, and where they stand."""

    text: str
    citation: Citation


class Contradiction(Record):
    """Two documents that answer the question differently, the newer first."""

    one: Version
    other: Version


class Report(Record):
    """What was found. `steps` has the searches in their order, with what was cited from what each of them added."""

    question: str
    answer: Answer
    steps: tuple[tuple[str, tuple[Statement, ...]], ...]
    versions: tuple[Version, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def text(self) -> str:
        return self.answer.text

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self.answer.citations

    @property
    def abstained(self) -> bool:
        return self.answer.abstained

    @property
    def confidence(self) -> float:
        return self.answer.confidence

    def markdown(self) -> str:
        """A page whose every statement has a number, with the sources by number at its end."""
        return _Page(self).text


def report(agent: Agent, question: str, *, options: VersionOptions | None = None) -> Report:
    """Asks, then reads the documents that were found one by one. Raises what the agent raises."""
    answer = agent.ask(question)
    versions = Versions(agent, options=options).of(answer)
    return Report(
        question=question,
        answer=answer,
        steps=tuple(_steps(answer)),
        versions=versions,
        contradictions=tuple(Contradiction(one=a, other=b) for a, b in disagreements(versions, options)),
    )


class Reporting:
    """An agent whose replies are reports; asked like the agent itself."""

    def __init__(self, agent: Agent, *, options: VersionOptions | None = None) -> None:
        self._agent, self._options = agent, options

    def ask(self, question: str) -> Report:
        return report(self._agent, question, options=self._options)


def _steps(answer: Answer) -> Iterator[tuple[str, tuple[Statement, ...]]]:
    """Each search, and the citations whose passages it brought."""
    for hop in answer.trace.hops:
        cited = [one for one in answer.citations if one.passage_id in hop.added]
        yield hop.query, tuple(Statement(text=one.quote, citation=one) for one in cited)


class _Page:
    """Writes a report down and numbers its sources, each quotation once."""

    def __init__(self, report: Report) -> None:
        self._numbers: dict[tuple[str, int, int], int] = {}
        self._sources: list[str] = []
        parts = [f"# {report.question}", *self._answer(report), *self._steps(report), *self._versions(report)]
        parts += self._contradictions(report)
        parts += ["## Sources", "\n".join(self._sources)] if self._sources else []
        self.text = "\n\n".join(parts) + "\n"

    def _answer(self, report: Report) -> Iterator[str]:
        answer = report.answer
        yield f"{answer.text} ({answer.reason})" if answer.abstained else self._cited(answer.text, answer.citations)

    def _steps(self, report: Report) -> Iterator[str]:
        found = [(query, said) for query, said in report.steps if said]
        if found:
            yield "## How it was found"
        for number, (query, said) in enumerate(found, 1):
            lines = [f"{number}. Searched for “{query}”:"]
            lines += [f"   - {self._cited(one.text, (one.citation,))}" for one in said]
            yield "\n".join(lines)

    def _versions(self, report: Report) -> Iterator[str]:
        if report.versions:
            yield "## What each document says"
            yield "\n".join(f"- {self._version(version)}" for version in report.versions)

    def _contradictions(self, report: Report) -> Iterator[str]:
        if report.versions:
            yield "## Contradictions"
            pairs = [f"- {self._version(c.one)}\n  {self._version(c.other)}" for c in report.contradictions]
            yield "\n".join(pairs) or "None was found among these documents."

    def _version(self, version: Version) -> str:
        return f"{version.source}: {self._cited(version.answer.text, version.answer.citations)}"

    def _cited(self, text: str, citations: tuple[Citation, ...]) -> str:
        marks = "".join(f"[{number}]" for number in dict.fromkeys(map(self._number, citations)))
        return f"{' '.join(text.split())} {marks}".rstrip()

    def _number(self, citation: Citation) -> int:
        key = (citation.document_id, citation.start, citation.end)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            place = f"{citation.document_id}, characters {citation.start} to {citation.end}"
            self._sources.append(f"{self._numbers[key]}. {place}: “{' '.join(citation.quote.split())}”")
        return self._numbers[key]
