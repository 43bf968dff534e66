"""Exercise 2: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def reciprocal_rank_fusion(rankings: list[list[str]], *, k: float = 60) -> list[str]:
    """The keys of several rankings in one: each gets the sum of 1 / (k + rank), ranks counted from 1. Equal sums by name."""
    raise NotImplementedError("your turn")
