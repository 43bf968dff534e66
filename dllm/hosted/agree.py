"""How sure several candidates are together: by the server's probabilities, or by how far they agree. Knows drafts alone."""

from collections.abc import Sequence
from dataclasses import replace

from ..draft import Draft
from ..score import f1


def weighed(drafts: Sequence[Draft]) -> list[Draft]:
    """Where every draft has the server's own confidence it stays. Else it is how far the candidates agree: the sum of the F1
    of all candidates' words with this one's, itself included, over one more than there are. Asked once: 0.5.

    >>> [draft.confidence for draft in weighed([Draft("Mira"), Draft("mira"), Draft("Bo")])]
    [0.5, 0.5, 0.25]
    """
    if all(draft.tokens or (draft.kind == "none" and draft.confidence) for draft in drafts):
        return [_judged(draft, draft.confidence) for draft in drafts]
    said = [draft.text or "no answer" for draft in drafts]
    return [
        _judged(draft, sum(f1(text, other) for other in said) / (len(said) + 1))
        for draft, text in zip(drafts, said, strict=True)
    ]


def distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """The surest first, each text once."""
    kept: dict[str, Draft] = {}
    for draft in sorted(drafts, key=lambda d: -d.confidence):
        kept.setdefault(draft.text.lower(), draft)
    return list(kept.values())


def _judged(draft: Draft, confidence: float) -> Draft:
    return replace(draft, confidence=confidence, answerable=1 - confidence if draft.kind == "none" else 1.0)
