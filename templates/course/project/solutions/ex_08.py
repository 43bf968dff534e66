"""Exercise 8: an interval of your own, and a look for leaks."""

import random


def bootstrap(values: list[float], *, seed: int, resamples: int = 2000) -> tuple[float, float]:
    """The 95% percentile interval of the mean: draw as many values with replacement, take the mean, again and again;
    the bounds leave 2.5% of those means out on either side."""
    rng = random.Random(seed)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(resamples))
    return means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1]


def leaked(trained: list[str], tested: list[str]) -> list[str]:
    """The test questions that were trained on: case, punctuation at the end and the number of blanks make no difference."""
    seen = {_plain(question) for question in trained}
    return [question for question in tested if _plain(question) in seen]


def _plain(question: str) -> str:
    return " ".join(question.casefold().rstrip("?!. ").split())
