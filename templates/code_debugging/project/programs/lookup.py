"""Looks up names by number, and remembers what it looked up."""

from collections.abc import Callable

MOST = 100  # entries that may be remembered


class Directory:
    """`find` is asked once for each number, and its answers are remembered."""

    def __init__(self, find: Callable[[int], str]) -> None:
        self.find = find
        self.remembered: dict[int, str] = {}

    def name(self, number: int) -> str:
        if number not in self.remembered:
            self.remembered[number] = self.find(number)
        return self.remembered[number]
