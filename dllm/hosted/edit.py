"""Re-masking for a model that only writes: the doubtful parts are marked, and the answer is asked for again."""

from collections.abc import Sequence

from ..draft import Draft

_PAIRS = (("⟦", "⟧"), ("<<", ">>"), ("{{", "}}"), ("@(", ")@"))
BLOCK = "▒"

_REQUEST = (
    "Parts of that answer are doubted: {reason}. Here it is with each of them between {opening} and {closing}:\n\n"
    "{marked}\n\nWrite the whole answer again. Put what the evidence carries in place of the marked parts; where it "
    "carries nothing, leave the part out, or write: no answer. Keep every other word as it is. Write the answer alone, "
    "with the numbers of the evidence in square brackets, without {opening} and {closing}."
)


def request(draft: Draft, doubted: Sequence[tuple[int, int]], reason: str) -> str:
    """What is asked of the model."""
    opening, closing = _pair(draft.text)
    marked = annotated(draft, doubted, opening, closing)
    return _REQUEST.format(reason=reason or "check them", opening=opening, closing=closing, marked=marked)


def annotated(draft: Draft, doubted: Sequence[tuple[int, int]], opening: str, closing: str) -> str:
    """The text with the numbers of its marks in square brackets again, and the doubted parts between signs.

    >>> from ..draft import Mark
    >>> annotated(Draft("Bo in 1952.", marks=(Mark(2, 0),)), [(6, 10)], "<", ">")
    'Bo [1] in <1952>.'
    """
    inserted = [(mark.at, 1, f" [{mark.evidence + 1}]") for mark in draft.marks]
    for start, end in doubted:
        # Whatever opens stands behind what closes or is named at the same place.
        inserted += [(start, 2, opening), (end, 0, closing)]
    text, last = "", 0
    for at, _, sign in sorted(inserted):
        text, last = f"{text}{draft.text[last:at]}{sign}", at
    return text + draft.text[last:]


def masked(text: str, doubted: Sequence[tuple[int, int]]) -> str:
    """The canvas as it is before the model writes again."""
    for start, end in sorted(doubted, reverse=True):
        text = f"{text[:start]}{BLOCK}{text[end:]}"
    return text


def without_signs(answer: str, draft: Draft) -> str:
    """The model's new answer, should it have left the signs in."""
    opening, closing = _pair(draft.text)
    return answer.replace(opening, "").replace(closing, "")


def _pair(text: str) -> tuple[str, str]:
    """Signs that the text has not; they depend on it alone."""
    free = (pair for pair in _PAIRS if pair[0] not in text and pair[1] not in text)
    return next(free, ("[[[", "]]]"))
