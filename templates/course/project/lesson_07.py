"""Lesson 7: abstaining, and what a confidence is worth.

Documents often carry no answer. A system that always says something is wrong then, and says so in the same tone as
when it is right. Two questions to ask of a confidence: does it order answers (are right ones surer than wrong ones)?
and what does it cost to demand more of it (fewer answers, fewer of them wrong)? The risk-coverage curve shows the
second. A threshold is chosen on questions that are not used to report it.

    python lesson_07.py

Exercise: `exercises/ex_07.py`, the threshold for a wanted precision. Check it: pytest tests/test_ex_07.py
"""

from course import agent, picture

ANSWERED = (
    ("Who runs the general store?", "Astrid Moe"),
    ("How many sheep graze on Vindholm?", "400"),
    ("When was the wind station opened?", "1974"),
    ("How long does the crossing take?", "35 minutes"),
    ("How many receivers does the radio museum show?", "140"),
    ("How many pupils does the new school have?", "23"),
    ("When were the turbines put up?", "2015"),
    ("How fast is the lifeboat?", "34 knots"),
    ("Who leads the boatyard?", "Ingrid Lund"),
    ("How many beds does the keeper's house have?", "five"),
)
UNANSWERED = (
    "Who is the mayor of Vindholm?",
    "What does the ferry ticket cost?",
    "How deep is the harbour?",
    "When was Ingrid Lund born?",
    "How many people live on the island?",
    "What colour is the lifeboat?",
    "Which company made the turbines?",
    "Who wrote the museum's guide book?",
    "What is the store's telephone number?",
    "How much does the wool sell for?",
)


def ask_all() -> list[tuple[float, bool]]:
    """The confidence of every answer given, and whether it is right. What it left unanswered is no answer."""
    rows = []
    for question, right in [*ANSWERED, *((question, None) for question in UNANSWERED)]:
        answer = agent().ask(question)
        good = right is not None and not answer.abstained and right.lower() in answer.text.lower()
        print(f"  {'-' if answer.abstained else 'right' if good else 'WRONG':6} {answer.confidence:.2f}  {question}")
        if not answer.abstained:
            rows.append((answer.confidence, good))
    return rows


def curve(rows: list[tuple[float, bool]], asked: int) -> list[tuple[float, float]]:
    """Coverage (share of all questions answered) and risk (share of those answered wrongly), from the strictest threshold on."""
    ordered = sorted(rows, key=lambda row: -row[0])
    points, wrong = [], 0
    for count, (_, good) in enumerate(ordered, 1):
        wrong += not good
        points.append((count / asked, wrong / count))
    return points


def draw(points: list[tuple[float, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    axes.plot([c for c, _ in points], [r for _, r in points], "o-", color="#4477aa")
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.02, 1)
    axes.set_xlabel("share of questions answered")
    axes.set_ylabel("share of answers that are wrong")
    figure.savefig(picture("lesson_07.png"), dpi=120)
    plt.close(figure)


def main() -> None:
    rows = ask_all()
    asked = len(ANSWERED) + len(UNANSWERED)
    points = curve(rows, asked)
    draw(points)
    right = sum(good for _, good in rows)
    print(f"\n{len(rows)} of {asked} answered, {right} rightly; {len(ANSWERED)} could be answered")
    for coverage, risk in points[:: max(1, len(points) // 5)]:
        print(f"  answering the surest {coverage:4.0%}: {risk:4.0%} of them wrong")
    print("Measured properly, with a threshold fitted apart: remask eval abstention --help")


if __name__ == "__main__":
    main()
