"""Lesson 8: evaluating honestly.

Three ways to fool oneself, each shown on numbers: reporting a mean without its interval; comparing two systems on
different questions (or ignoring that they were asked the same ones); and testing on what was trained on.

    python lesson_08.py

Exercise: `exercises/ex_08.py`, a bootstrap interval and a leakage check. Check it: pytest tests/test_ex_08.py
"""

import random

from course import picture
from remask.evals.interval import difference, mean


def intervals(rng: random.Random) -> list[tuple[int, float, float]]:
    """A system that is right 60% of the time, measured on more and more questions."""
    found = []
    for n in (10, 30, 100, 300, 1000):
        measured = mean([float(rng.random() < 0.6) for _ in range(n)])
        found.append((n, measured.low, measured.high))
        print(f"  {n:5} questions: {measured.value:.0%} [{measured.low:.0%}, {measured.high:.0%}]")
    return found


def pairs(rng: random.Random) -> None:
    """Two systems, the second better by four points on the same 400 questions of very different difficulty."""
    hard = [rng.random() for _ in range(400)]
    luck = [rng.random() for _ in range(400)]
    ours = [float(u < h + 0.04) for u, h in zip(luck, hard, strict=True)]
    theirs = [float(u < h) for u, h in zip(luck, hard, strict=True)]
    paired = difference(ours, theirs)
    print(f"  ours {mean(ours).value:.1%} [{mean(ours).low:.1%}, {mean(ours).high:.1%}]")
    print(f"  theirs {mean(theirs).value:.1%} [{mean(theirs).low:.1%}, {mean(theirs).high:.1%}]: the intervals overlap")
    print(
        f"  paired difference {paired.value:+.1%} [{paired.low:+.1%}, {paired.high:+.1%}]: the same questions tell more"
    )


def leak(rng: random.Random) -> None:
    """A system that remembers: perfect on what it saw, guessing else. The share of seen questions is all that is measured."""
    for share in (0.0, 0.25, 0.5):
        seen = [rng.random() < share for _ in range(500)]
        score = mean([1.0 if s else float(rng.random() < 0.2) for s in seen])
        print(f"  {share:4.0%} of the test questions were trained on: {score.value:.0%} 'accuracy'")


def draw(found: list[tuple[int, float, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for n, low, high in found:
        axes.plot([n, n], [low, high], color="#4477aa", linewidth=4)
    axes.axhline(0.6, color="#888888", linestyle="--")
    axes.set_xscale("log")
    axes.set_xlabel("questions")
    axes.set_ylabel("95% interval (the truth: 60%)")
    figure.savefig(picture("lesson_08.png"), dpi=120)
    plt.close(figure)


def main() -> None:
    rng = random.Random(3)
    print("How sure is a mean?")
    draw(intervals(rng))
    print("The same questions for both:")
    pairs(rng)
    print("Trained on the test:")
    leak(rng)


if __name__ == "__main__":
    main()
