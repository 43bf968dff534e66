"""What in a draft may be wrong: what the model was unsure of, what the evidence does not say, what rivals dispute.

Knows drafts and their grounds. Does not decide what is done about a doubt.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from ..dllm.draft import Draft
from .answer import Doubt
from .cite import LEAST_SHARE, statements
from .options import AgentOptions
from .support import content_words, numbers, topic_words
from .weigh import Weighed, together

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")


def doubts(best: Weighed, rivals: Iterable[Weighed], options: AgentOptions) -> tuple[Doubt, ...]:
    """From all three sources, in the order of the text. A draft that says nothing leaves nothing to doubt."""
    if not best.answers:
        return ()
    strong = (r for r in rivals if r.answers and r.weight >= options.rival_share * best.weight)
    found = [
        *unsure(best.draft, options.unsure_below),
        *unsupported(best),
        *(doubt for rival in strong for doubt in disputed(best.draft, rival.draft)),
    ]
    return tuple(dict.fromkeys(sorted(found, key=lambda d: (d.start, d.end))))


def spans(found: Iterable[Doubt]) -> list[tuple[int, int]]:
    """What to re-mask: the doubts' spans, those that overlap or touch made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((d.start, d.end) for d in found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def reason(found: Iterable[Doubt]) -> str:
    """Each kind of doubt once, with its details.

    >>> reason([Doubt(start=0, end=4, text="1994", source="unsure", detail="confidence 0.21")])
    'unsure (confidence 0.21)'
    """
    details: dict[str, list[str]] = {}
    for doubt in found:
        details.setdefault(doubt.source, []).append(doubt.detail)
    return "; ".join(f"{source} ({', '.join(dict.fromkeys(said))})" for source, said in details.items())


def unsure(draft: Draft, below: float) -> Iterator[Doubt]:
    """Runs of neighbouring tokens with too little confidence."""
    run: list[int] = []
    for number, token in enumerate(draft.tokens):
        if token.confidence < below and token.start < token.end:
            run.append(number)
        elif run:
            yield _unsure(draft, run)
            run = []
    if run:
        yield _unsure(draft, run)


def unsupported(best: Weighed) -> Iterator[Doubt]:
    """Numbers and names that the grounds lack; whole statements without grounds, or with too few words in common."""
    draft, question = best.draft, best.reading.prompt.question
    if draft.kind in ("yes", "no"):
        if not best.grounds:
            yield _doubt(draft, 0, len(draft.text), "no sentence of the evidence bears on it")
        return
    for start, end in statements(draft.text):
        evidence = together(g for g in best.grounds if g.start < end and start < g.end)
        wanted, known = content_words(draft.text[start:end]), content_words(evidence)
        if not evidence:
            yield _doubt(draft, start, end, "no sentence of the evidence says it")
        elif len(wanted & known) < LEAST_SHARE * len(wanted):
            yield _doubt(draft, start, end, "the cited evidence has few of its words")
        else:
            yield from _foreign_words(draft, start, end, evidence, question)


def disputed(draft: Draft, rival: Draft) -> Iterator[Doubt]:
    """The words that another candidate has replaced or dropped. One that only says more disputes nothing."""
    detail = f"another candidate says {_short(rival.text)!r}"
    if draft.kind != rival.kind:
        yield Doubt(start=0, end=len(draft.text), text=draft.text, source="disputed", detail=detail)
        return
    mine, other = _words(draft.text), _words(rival.text)
    said, heard = [word for word, _, _ in mine], [word for word, _, _ in other]
    for tag, first, last, _, _ in SequenceMatcher(None, said, heard, autojunk=False).get_opcodes():
        if tag in ("replace", "delete"):
            start, end = mine[first][1], mine[last - 1][2]
            yield Doubt(start=start, end=end, text=draft.text[start:end], source="disputed", detail=detail)


def _unsure(draft: Draft, run: Sequence[int]) -> Doubt:
    tokens = [draft.tokens[number] for number in run]
    start, end = tokens[0].start, tokens[-1].end
    detail = f"confidence {min(token.confidence for token in tokens):.2f}"
    return Doubt(start=start, end=end, text=draft.text[start:end], source="unsure", detail=detail)


def _doubt(draft: Draft, start: int, end: int, detail: str) -> Doubt:
    return Doubt(start=start, end=end, text=draft.text[start:end], source="unsupported", detail=detail)


def _foreign_words(draft: Draft, start: int, end: int, evidence: str, question: str) -> Iterator[Doubt]:
    known, asked, known_numbers = content_words(evidence), topic_words(question), numbers(evidence)
    for match in _WORD.finditer(draft.text, start, end):
        word = match.group()
        if not numbers(word) <= known_numbers:
            yield _doubt(draft, match.start(), match.end(), "a number that the cited evidence lacks")
        elif word[0].isupper() and match.start() > start and not content_words(word) <= known | asked:
            yield _doubt(draft, match.start(), match.end(), "a name that the cited evidence lacks")


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(match.group().casefold(), match.start(), match.end()) for match in _WORD.finditer(text)]


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
