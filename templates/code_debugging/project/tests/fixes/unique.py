"""Lists without repeats."""


def unique(values: list[int]) -> list[int]:
    """Each value once, where it came first."""
    return list(dict.fromkeys(values))
