"""Moving averages of a series."""


def moving_averages(values: list[float], width: int) -> list[float]:
    """The mean of every `width` neighbours, from the first to the last."""
    if width < 1:
        raise ValueError(f"width is {width!r}; it must be at least 1")
    means = []
    for start in range(len(values) - width):
        window = values[start : start + width]
        means.append(sum(window) / width)
    return means
