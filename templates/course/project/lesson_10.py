"""Lesson 10: serving, scaling, larger models.

What one caller waits for (latency) and what many get together (throughput) are different numbers, and both have a
tail: report the median and the 95th percentile, never the mean alone. The agent you have built so far is the one that
is served, and the one a larger model is put into: only the name of the backend changes.

    python lesson_10.py

Exercise: `exercises/ex_10.py`, read a stream of server-sent events, whatever the pieces it arrives in. Check it:
pytest tests/test_ex_10.py
"""

import time
from concurrent.futures import ThreadPoolExecutor

from course import agent
from remask.evals.interval import quantile

QUESTIONS = (
    "Who runs the general store?",
    "How high is the mast of the wind station?",
    "When were the turbines put up?",
    "How fast is the lifeboat?",
    "Who leads the boatyard?",
    "How many beds does the keeper's house have?",
)


def timed(question: str) -> float:
    begin = time.perf_counter()
    agent().ask(question)
    return time.perf_counter() - begin


def measure(callers: int) -> tuple[float, list[float]]:
    """Questions a second with so many callers at once, and the seconds each waited."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        waited = list(pool.map(timed, QUESTIONS * 2))
    return len(waited) / (time.perf_counter() - begin), waited


def main() -> None:
    agent().ask(QUESTIONS[0])  # the first question loads what the others find loaded
    for callers in (1, 4):
        rate, waited = measure(callers)
        p50, p95 = quantile(waited, 0.5).value, quantile(waited, 0.95).value
        print(
            f"{callers} at once: {rate:.1f} questions a second; waited {1000 * p50:.0f} ms (median), {1000 * p95:.0f} ms (p95)"
        )
    print(
        "\nBehind HTTP:            remask index documents --out index && remask serve --index index"
        "\nA diffusion checkpoint: remask ask QUESTION --index index --backend llada:FOLDER"
        "\nA hosted one:           remask ask QUESTION --index index --backend mercury:mercury-2"
        "\nWhat is installed:      remask backends"
    )


if __name__ == "__main__":
    main()
