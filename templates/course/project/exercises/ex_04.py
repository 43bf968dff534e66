"""Exercise 4: which spans of a draft to mask again."""


def doubtful_spans(confidences: list[float], *, below: float) -> list[tuple[int, int]]:
    """Runs of neighbouring words that are all less than `below` sure, as (first, after the last), in order."""
    raise NotImplementedError("your turn")
