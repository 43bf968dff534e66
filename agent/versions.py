"""What each document says to one question, and which of them is newer. Guidance changes, and old pages stay about.

The agent answers from everything at once. Here the documents it found are also read one by one; where two give different
answers to the same question, the newer one speaks first, the older one after it, and both are cited. Knows dates and
answers; not which of two documents is right.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations

from pydantic import Field

from ..retrieval.document import Hit, Passage, Scalar
from .agent import Agent
from .answer import Answer, Record
from .dated import dated, spelled
from .events import AnswerReady
from .reply import Asks, Reply, answer_in, joined
from .run import Run
from .support import content_words, numbers, topic_words


class VersionOptions(Record):
    """How widely it looks, and what counts as the same question and another answer."""

    max_documents: int = Field(default=4, ge=1)
    """Documents read one by one, the best found first: each costs a draft."""
    min_on_topic: float = Field(default=0.6, ge=0, le=1)
    """The least share of the question's words that a quotation with its title must have."""
    max_common: float = Field(default=0.5, ge=0, le=1)
    """Answers in words differ when they have at most this share of their words in common."""


class Version(Record):
    """One document's answer."""

    document_id: str
    title: str
    dated: date | None = Field(description="The document's own date, where it bears one.")
    answer: Answer

    @property
    def source(self) -> str:
        """The document in words."""
        return f"“{self.title}”" + (f" of {spelled(self.dated)}" if self.dated else ", undated")


@dataclass(frozen=True, slots=True)
class _Given:
    """A retriever that has found already."""

    hits: tuple[Hit, ...]

    def search(self, query: str, k: int, *, where: Mapping[str, Scalar] | None = None) -> list[Hit]:
        return list(self.hits[:k])


class Versions:
    """An agent that says how old its answer is, and what other documents say. Asked like the agent itself.

    agent = Versions(Agent.from_documents("leaflets/"))
    print(agent.ask("At what age does screening begin?").text)
    """

    def __init__(self, agent: Agent, *, ask: Asks | None = None, options: VersionOptions | None = None) -> None:
        """`ask` is asked in the agent's place: a conversation with it, which asks follow-ups in full."""
        self._asks, self._tools, self._options = ask or agent, agent._tools, options or VersionOptions()

    def ask(self, question: str) -> Reply:
        """The answer of the newest of the documents that differ, with the others'; or the agent's answer with the date of
        its document. Raises what the agent raises."""
        answer = answer_in(self._asks.ask(question))
        assert answer is not None, "agents and conversations give answers"
        if answer.abstained:
            return Reply(text=answer.text, abstained=True, confidence=answer.confidence, answer=answer)
        # What a tool said is of one case, and contradicts no document.
        if answer.citations[0].document_id not in _by_document(answer):
            return Reply(text=answer.text, citations=answer.citations, confidence=answer.confidence, answer=answer)
        own = self._version(answer)
        others = [v for v in self.of(answer) if v.document_id != own.document_id]
        differing = [v for v in others if differ(own.answer, v.answer, self._options)]
        return _told(answer, newest_first([own, *differing]))

    def of(self, answer: Answer) -> tuple[Version, ...]:
        """What each document that was found for an answer says by itself, where it is on the question; newest first."""
        found, question = _by_document(answer), answer.trace.question
        read = (self._alone(question, passages) for passages in list(found.values())[: self._options.max_documents])
        versions = (self._version(one) for one in read if one is not None and self._on_topic(question, one))
        return tuple(newest_first(versions))

    def _alone(self, question: str, passages: Sequence[Passage]) -> Answer | None:
        """The answer from these passages and no others; None where they carry none. No tool is called again."""
        given = _Given(tuple(Hit(passage, 1.0) for passage in passages))
        options = self._tools.options.model_copy(update={"extra_hops": 0, "max_refinements": 0, "candidates": 1})
        run = Run(replace(self._tools, retriever=given, options=options, toolbox=None), question)
        answer = next(event.answer for event in run.events() if isinstance(event, AnswerReady))
        return None if answer.abstained else answer

    def _on_topic(self, question: str, answer: Answer) -> bool:
        asked = topic_words(question)
        quoted = content_words(" ".join(f"{one.title} {one.quote}" for one in answer.citations))
        return not asked or len(asked & quoted) >= self._options.min_on_topic * len(asked)

    def _version(self, answer: Answer) -> Version:
        first = answer.citations[0]
        day = None
        if self._tools.documents is not None:
            day = dated(self._tools.documents(first.document_id))
        return Version(document_id=first.document_id, title=first.title, dated=day, answer=answer)


def differ(one: Answer, other: Answer, options: VersionOptions | None = None) -> bool:
    """Whether two answers to one question say different things: yes and no, other numbers, or mostly other words. An answer
    that only says more does not differ."""
    options = options or VersionOptions()
    if {one.kind, other.kind} <= {"yes", "no"}:
        return one.kind != other.kind
    counted = numbers(one.text), numbers(other.text)
    if all(counted):
        return not _nested(*counted)
    said = content_words(one.text), content_words(other.text)
    common = len(said[0] & said[1]) / max(1, len(said[0] | said[1]))
    return not _nested(*said) and common <= options.max_common


def disagreements(
    versions: Sequence[Version], options: VersionOptions | None = None
) -> Iterator[tuple[Version, Version]]:
    """The pairs of versions that differ, in their order."""
    for one, other in combinations(versions, 2):
        if differ(one.answer, other.answer, options):
            yield one, other


def newest_first(versions: Iterable[Version]) -> list[Version]:
    """Those without a date last; otherwise as they came."""
    return sorted(versions, key=lambda version: version.dated or date.min, reverse=True)


def _by_document(answer: Answer) -> dict[str, list[Passage]]:
    """What the searches found, by document, in the order in which it was found."""
    found: dict[str, dict[str, Passage]] = {}
    for hop in answer.trace.hops:
        for hit in hop.hits:
            passage = Passage(hit.document_id, hit.text, hit.start, hit.end, hit.title)
            found.setdefault(hit.document_id, {})[hit.passage_id] = passage
    return {document: list(passages.values()) for document, passages in found.items()}


def _told(answer: Answer, versions: Sequence[Version]) -> Reply:
    newest = versions[0]
    rest = [part for version in versions[1:] for part in (_saying(version, newest), version.answer)]
    notices = [f"From {newest.source}.", *(_saying(version, newest) for version in versions[1:])]
    text, citations = joined([newest.answer, notices[0], *rest])
    return Reply(
        text=text,
        citations=citations,
        confidence=newest.answer.confidence,
        notice="\n".join(notices),
        answer=answer,
    )


def _saying(version: Version, newest: Version) -> str:
    older = version.dated and newest.dated and version.dated < newest.dated
    return f"{'An older document' if older else 'Another document'}, {version.source}, says something else:"


def _nested(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one
