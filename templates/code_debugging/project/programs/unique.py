"""Lists without repeats."""


def unique(values: list[int]) -> list[int]:
    """Each value once, where it came first."""
    kept: list[int] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept
