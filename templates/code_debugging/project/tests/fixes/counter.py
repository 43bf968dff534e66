"""A counter of visits that many threads use."""

import threading
import time


class Counter:
    """Counts; `slowly` stands for the work between reading and writing."""

    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()

    def add(self, slowly: float = 0.0) -> None:
        with self.lock:
            seen = self.value
            if slowly:
                time.sleep(slowly)
            self.value = seen + 1

    def reset(self) -> None:
        self.value = 0
