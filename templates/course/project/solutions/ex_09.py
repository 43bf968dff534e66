"""Exercise 9: fill a skeleton so that nothing can come out broken."""

import json

HOLE = "▒"


def fill_skeleton(skeleton: str, values: list[object]) -> str:
    """JSON in which the n-th hole holds the n-th value, whatever quotes, braces or holes a value's own text has.

    A hole stands where a whole value belongs. Raises ValueError where there are more or fewer values than holes.
    """
    parts = skeleton.split(HOLE)
    if len(parts) - 1 != len(values):
        raise ValueError(f"the skeleton has {len(parts) - 1} holes, and {len(values)} values were given")
    written = [json.dumps(value, ensure_ascii=False) for value in values]
    return parts[0] + "".join(value + part for value, part in zip(written, parts[1:], strict=True))
