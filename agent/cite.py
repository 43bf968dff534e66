"""From a draft to citations. Knows where words come from; not how a draft was made or whether it is good enough.

A pointer model says where it took every token: that sentence is cited. A model that only writes is checked afterwards:
each sentence of its answer is aligned with the sentences of the evidence that carry it, those of the evidence it named
first, or is left without a citation.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from ..dllm.draft import Draft, Source, Token
from ..retrieval.sentences import sentences
from .answer import Citation
from .evidence import Quote, Reading
from .support import Scorer, content_words, numbers, topic_words

MOST_GROUNDS = 3
"""Sentences that one statement of free text is aligned with, at most."""
LEAST_SHARE = 0.5
"""Of a statement's content words, that its grounds must have."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A part of the draft's text and a quotation that carries it; `confidence` is the model's own, where it pointed."""

    start: int
    end: int
    quote: Quote
    confidence: float | None = None


def settled(draft: Draft, reading: Reading) -> Draft:
    """A draft of whole sentences gets exactly those as its text, in reading order; other drafts stay as they are."""
    if draft.kind != "sentences":
        return draft
    quotes = _in_reading_order(filter(None, map(reading.quote, draft.cited)))
    if not quotes:
        return draft
    text = " ".join(quote.text for quote in quotes)
    cited = tuple(Source(quote.evidence, quote.start, quote.end) for quote in quotes)
    return replace(draft, text=text, cited=cited, tokens=draft.tokens if text == draft.text else ())


def grounds(draft: Draft, reading: Reading) -> list[Ground]:
    """What carries a settled draft, in the order of its text; empty where nothing does."""
    if draft.kind == "none" or not draft.text.strip():
        return []
    cited = [quote for source in draft.cited if (quote := reading.quote(source))]
    if draft.kind == "sentences" and cited:
        return list(_quoted(draft, cited))
    whole = _trimmed(draft.text, 0, len(draft.text))
    if draft.kind in ("yes", "no"):
        cited = cited or _bearing(reading, _named(draft, 0, len(draft.text))) or _bearing(reading)
        return _distinct(Ground(*whole, quote) for quote in cited)
    pointed = list(_pointed(draft, reading))
    if cited:
        return _distinct([*pointed, *(Ground(*whole, quote) for quote in cited)])
    return _distinct([*pointed, *_written(draft, reading, pointed)])


def cite(draft: Draft, reading: Reading, scorer: Scorer) -> tuple[Citation, ...]:
    """One citation for each ground. `support` is the scorer's number for the answer's part and the sentence with its
    title, in the geometric mean with the model's confidence where the model pointed there."""
    return tuple(_citation(draft, reading, ground, scorer) for ground in grounds(draft, reading))


def statements(text: str) -> list[tuple[int, int]]:
    """The sentences of an answer, without the blanks between them."""
    return [(s.start, s.end) for s in sentences(text)]


def _citation(draft: Draft, reading: Reading, ground: Ground, scorer: Scorer) -> Citation:
    quote, passage = ground.quote, ground.quote.passage
    said = "" if draft.kind in ("yes", "no") else draft.text[ground.start : ground.end]
    support = scorer(reading.prompt.question, said, quote.in_context)
    if ground.confidence is not None:
        support = sqrt(support * ground.confidence)
    return Citation(
        answer_start=ground.start,
        answer_end=ground.end,
        document_id=passage.document_id,
        passage_id=passage.id,
        start=passage.start + quote.start,
        end=passage.start + quote.end,
        quote=quote.text,
        title=passage.title,
        support=min(max(support, 0.0), 1.0),
    )


def _quoted(draft: Draft, quotes: Iterable[Quote]) -> Iterator[Ground]:
    at = 0
    for quote in quotes:
        found = draft.text.find(quote.text, at)
        if found >= 0:
            at = found + len(quote.text)
            yield Ground(found, at, quote)


def _pointed(draft: Draft, reading: Reading) -> Iterator[Ground]:
    """Neighbouring tokens from one sentence together. A token that its source does not hold points at nothing."""
    run: list[Token] = []
    home: Quote | None = None
    for token in draft.tokens:
        said = draft.text[max(token.start, 0) : max(token.end, 0)].strip()
        if not said:
            continue
        quote = reading.quote(token.source) if token.source else None
        if quote and said.casefold() not in quote.text.casefold():
            quote = None
        if quote != home:
            yield from _run(run, home)
            run, home = [], quote
        run.append(token)
    yield from _run(run, home)


def _run(tokens: list[Token], quote: Quote | None) -> Iterator[Ground]:
    if tokens and quote and 0 <= tokens[0].start < tokens[-1].end:
        sure = sum(token.confidence for token in tokens) / len(tokens)
        yield Ground(tokens[0].start, tokens[-1].end, quote, min(max(sure, 0.0), 1.0))


def _written(draft: Draft, reading: Reading, pointed: Sequence[Ground] = ()) -> Iterator[Ground]:
    """The statements in which no token points anywhere, each with the sentences that carry it. Where those that the model
    named don't, another may: models number wrongly."""
    for start, end in statements(draft.text):
        if not any(ground.start < end and start < ground.end for ground in pointed):
            said, named = draft.text[start:end], _named(draft, start, end)
            carrying = (_carrying(said, reading, named) if named else []) or _carrying(said, reading)
            yield from (Ground(start, end, quote) for quote in carrying)


def _named(draft: Draft, start: int, end: int) -> frozenset[int]:
    """The evidence that the model's marks name for a statement. A mark speaks of what is before it, unless the answer
    begins with one: then each speaks of what follows."""
    leading = bool(draft.marks) and draft.marks[0].at == 0
    until = next((s for s, _ in statements(draft.text) if s >= end), len(draft.text) + 1)
    marks = (m for m in draft.marks if (start <= m.at < end if leading else start < m.at < until or m.at == end))
    return frozenset(mark.evidence for mark in marks)


def _carrying(statement: str, reading: Reading, named: frozenset[int] | None = None) -> list[Quote]:
    """Sentences with most of the statement's words, all its numbers, and a word of the question: one that only says
    "answer 42" is no ground for 42. `named`: only sentences of this evidence."""
    chosen, missing = _aligned(statement, reading, named)
    wanted, asked = content_words(statement), topic_words(reading.prompt.question)
    heard = "\n".join(quote.text for quote in chosen)
    to_the_point = not asked or bool(asked & content_words(heard))
    exact = numbers(statement) <= numbers("\n".join(quote.in_context for quote in chosen))
    return chosen if _most(wanted, missing) and to_the_point and exact else []


def _bearing(reading: Reading, named: frozenset[int] | None = None) -> list[Quote]:
    """Sentences with most of the question's words: what a bare yes or no must rest on."""
    chosen, missing = _aligned(reading.prompt.question, reading, named)
    return chosen if _most(topic_words(reading.prompt.question), missing) else []


def _most(wanted: frozenset[str], missing: frozenset[str]) -> bool:
    return bool(wanted) and len(wanted - missing) >= LEAST_SHARE * len(wanted)


def _aligned(statement: str, reading: Reading, named: frozenset[int] | None) -> tuple[list[Quote], frozenset[str]]:
    """The fewest sentences that have a statement's words, greedily, of equals the one nearest to the question, then the
    earlier in the prompt; and the words that none of them has."""
    missing, asked = content_words(statement), topic_words(reading.prompt.question)
    within = (quote for quote in reading.quotes() if named is None or quote.evidence in named)
    known = [(quote, content_words(quote.in_context)) for quote in within]
    chosen: list[Quote] = []
    while missing and known and len(chosen) < MOST_GROUNDS:
        quote, words = max(known, key=lambda pair: (len(pair[1] & missing), len(pair[1] & asked)))
        if not words & missing:
            break
        chosen.append(quote)
        missing = missing - words
    return chosen, missing


def _in_reading_order(quotes: Iterable[Quote]) -> list[Quote]:
    """By document, the one shown first before the others, and by place in it. A sentence inside another is left out."""
    given = list(quotes)
    place: dict[str, int] = {}
    for quote in sorted(given, key=lambda q: q.evidence):
        place.setdefault(quote.passage.document_id, len(place))

    def spot(quote: Quote) -> tuple[int, int, int]:
        start = quote.passage.start + quote.start
        return place[quote.passage.document_id], start, -(start + len(quote.text))

    kept: list[Quote] = []
    for quote in sorted(given, key=spot):
        if not kept or not _inside(quote, kept[-1]):
            kept.append(quote)
    return kept


def _inside(quote: Quote, other: Quote) -> bool:
    end, other_end = quote.passage.start + quote.end, other.passage.start + other.end
    return quote.passage.document_id == other.passage.document_id and end <= other_end


def _distinct(found: Iterable[Ground]) -> list[Ground]:
    """In the order of the text. A sentence that already carries a part of an answer isn't cited again for the whole."""
    kept: dict[tuple[str, int, int], list[Ground]] = {}
    for ground in found:
        passage = ground.quote.passage
        key = (passage.document_id, passage.start + ground.quote.start, passage.start + ground.quote.end)
        same = kept.setdefault(key, [])
        if not any(g.start < ground.end and ground.start < g.end for g in same):
            same.append(ground)
    return sorted((g for same in kept.values() for g in same), key=lambda g: (g.start, g.end))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return start, start + len(part.strip())
