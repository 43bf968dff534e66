"""Texts and other things in pieces. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

TEXTS_AT_ONCE = 512
"""How many texts an embedder is given at once: a whole number of its batches."""


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """
    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def in_blocks(texts: Sequence[str], size: int = TEXTS_AT_ONCE) -> tuple[list[list[str]], list[int]]:
    """Equal texts once, long ones first so that those of a block are about as long; and where each text's row will be.

    >>> in_blocks(["a", "ccc", "bb", "a"], size=2)
    ([['ccc', 'bb'], ['a']], [2, 0, 1, 2])
    """
    unique = sorted(set(texts), key=lambda text: (-len(text), text))
    place = {text: row for row, text in enumerate(unique)}
    return list(batched(unique, size)), [place[text] for text in texts]
