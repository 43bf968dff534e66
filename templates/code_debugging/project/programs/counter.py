"""A counter of visits that many threads use."""

import time


class Counter:
    """Counts; `slowly` stands for the work between reading and writing."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, slowly: float = 0.0) -> None:
        seen = self.value
        if slowly:
            time.sleep(slowly)
        self.value = seen + 1

    def reset(self) -> None:
        self.value = 0
