"""Exercise 9: fill a skeleton so that nothing can come out broken."""

HOLE = "▒"


def fill_skeleton(skeleton: str, values: list[object]) -> str:
    """JSON in which the n-th hole holds the n-th value, whatever quotes, braces or holes a value's own text has.

    A hole stands where a whole value belongs. Raises ValueError where there are more or fewer values than holes.
    """
    raise NotImplementedError("your turn")
