"""Exercise 8: an interval of your own, and a look for leaks."""


def bootstrap(values: list[float], *, seed: int, resamples: int = 2000) -> tuple[float, float]:
    """The 95% percentile interval of the mean: draw as many values with replacement, take the mean, again and again;
    the bounds leave 2.5% of those means out on either side."""
    raise NotImplementedError("your turn")


def leaked(trained: list[str], tested: list[str]) -> list[str]:
    """The test questions that were trained on: case, punctuation at the end and the number of blanks make no difference."""
    raise NotImplementedError("your turn")
