"""Exercise 7: how sure must an answer be?"""


def threshold_for(rows: list[tuple[float, bool]], *, precision: float) -> float | None:
    """The lowest confidence at which at least `precision` of the answers that are as sure or surer are right.

    Rows are (confidence, right). Answers that are equally sure stand or fall together. None where no threshold will do.
    """
    good: list[float] = []
    for level in {confidence for confidence, _ in rows}:
        kept = [right for confidence, right in rows if confidence >= level]
        if sum(kept) >= precision * len(kept):
            good.append(level)
    return min(good, default=None)
