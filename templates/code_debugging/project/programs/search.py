"""Search in sorted lists."""


def position(values: list[int], wanted: int) -> int | None:
    """Where `wanted` stands in a sorted list; None where it does not."""
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] == wanted:
            return middle
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return None
