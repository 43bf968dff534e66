"""Exercise 4: which spans of a draft to mask again."""


def doubtful_spans(confidences: list[float], *, below: float) -> list[tuple[int, int]]:
    """Runs of neighbouring words that are all less than `below` sure, as (first, after the last), in order."""
    spans: list[tuple[int, int]] = []
    for at, confidence in enumerate(confidences):
        if confidence >= below:
            continue
        if spans and spans[-1][1] == at:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans
