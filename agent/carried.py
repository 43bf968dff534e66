"""An answer without the statements that nothing carries. Knows drafts and doubts; decides nothing about when."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from ..dllm.draft import Draft, Mark, Token
from .answer import Doubt
from .cite import statements
from .doubt import unsupported
from .weigh import Weighed


def uncarried(weighed: Weighed) -> tuple[Doubt, ...]:
    """Whole statements that no sentence of the evidence says. Empty where none is, and where all are: then nothing would be
    left, and there is no answer to be given rather than a shorter one."""
    draft = weighed.draft
    if draft.kind != "span":
        return ()
    whole = statements(draft.text)
    found = tuple(doubt for doubt in unsupported(weighed) if (doubt.start, doubt.end) in whole)
    return found if len(found) < len(whole) else ()


def without(draft: Draft, spans: Iterable[tuple[int, int]]) -> Draft:
    """The draft without the characters of these spans and the blanks behind them.

    >>> without(Draft("It stood. It sang.  It fell."), [(10, 18)]).text
    'It stood. It fell.'
    """
    cut = [False] * len(draft.text)
    for start, end in spans:
        while end < len(draft.text) and draft.text[end].isspace():
            end += 1
        cut[start:end] = [True] * (end - start)
    kept = [at for at in range(len(draft.text)) if not cut[at]]
    while kept and draft.text[kept[-1]].isspace():
        kept.pop()
    text = "".join(draft.text[at] for at in kept)
    # A mark speaks of the character before it.
    marks = (Mark(bisect_left(kept, m.at), m.evidence) for m in draft.marks if not (m.at and cut[m.at - 1]))
    moved = (_moved(token, kept) for token in draft.tokens)
    return replace(draft, text=text, tokens=tuple(t for t in moved if t.start < t.end), marks=tuple(marks))


def _moved(token: Token, kept: list[int]) -> Token:
    return replace(token, start=bisect_left(kept, token.start), end=bisect_left(kept, token.end))
