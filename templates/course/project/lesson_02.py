"""Lesson 2: hybrid fusion, measured.

Two rankings can be joined by their ranks (reciprocal rank fusion) or by their scores (a weighted sum, each scaled
from the lowest it could be to the best it was). Which is better is no matter of taste: write questions, note the
right document, count. Twenty questions are few. The interval says how few: a difference smaller than that is no
difference yet.

    python lesson_02.py

Exercise: `exercises/ex_02.py`, reciprocal rank fusion in five lines. Check it: pytest tests/test_ex_02.py
"""

from course import DOCUMENTS, index, picture
from remask.evals.interval import Interval, mean
from remask.retrieval import FusionOptions, Index, Mode, default_embedder, load

QUESTIONS = (
    ("What does VH-32 mean?", "wind_station.md"),
    ("Who runs the shop?", "store.md"),
    ("How long does the crossing take?", "ferry.md"),
    ("Where do I get the keys for my stay?", "guest_house.md"),
    ("What may visitors do in June?", "sheep.md"),
    ("How fast is the rescue boat?", "rescue.md"),
    ("When do puffins nest?", "birds.md"),
    ("How old is the oldest wireless set?", "radio_museum.md"),
    ("Who leads the yard today?", "boatyard.md"),
    ("Where did the physicist grow up?", "maren_aas.md"),
    ("How many children learn on the island?", "school.md"),
    ("What stores energy when there is no wind?", "power.md"),
    ("What does a night in the house cost?", "guest_house.md"),
    ("How far can the light be seen?", "lighthouse.md"),
    ("What was the strongest gust in the storm?", "weather_report.md"),
    ("Are pets allowed?", "guest_house.md"),
    ("When does she stay in port?", "ferry.md"),
    ("How do I call for help at sea?", "rescue.md"),
    ("What do the animals eat in the cold season?", "sheep.md"),
    ("When did the keeper leave?", "lighthouse.md"),
)


def found_first(searched: Index, mode: Mode = "hybrid") -> list[float]:
    """1 for each question whose document comes first, else 0."""
    hits = [searched.search(question, 1, mode=mode) for question, _ in QUESTIONS]
    return [
        float(bool(found) and found[0].passage.document_id == right)
        for found, (_, right) in zip(hits, QUESTIONS, strict=True)
    ]


def measure() -> dict[str, Interval]:
    """The share of questions whose document comes first, with its 95% interval."""
    embedder = default_embedder()

    def fused(fusion: FusionOptions) -> list[float]:
        return found_first(Index.create(load(DOCUMENTS), embedder=embedder, fusion=fusion))

    rows = {"lexical": found_first(index(), "lexical"), "dense": found_first(index(), "dense")}
    rows["RRF"] = fused(FusionOptions(method="rrf"))
    rows |= {f"weighted, dense {w}": fused(FusionOptions(dense_weight=w)) for w in (0.3, 0.5, 0.7)}
    return {name: mean(values) for name, values in rows.items()}


def draw(results: dict[str, Interval]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    names = list(results)[::-1]
    values = [results[name].value for name in names]
    lows = [results[name].value - results[name].low for name in names]
    highs = [results[name].high - results[name].value for name in names]
    axes.barh(names, values, xerr=[lows, highs], color="#4477aa", ecolor="#222222", capsize=3)
    axes.set_xlim(0, 1)
    axes.set_xlabel(f"right document first, {len(QUESTIONS)} questions, 95% interval")
    figure.savefig(picture("lesson_02.png"), dpi=120)
    plt.close(figure)


def main() -> None:
    results = measure()
    for name, found in results.items():
        print(f"{name:20} {found.value:.0%}  [{found.low:.0%}, {found.high:.0%}]")
    draw(results)
    print(f"drawn: {picture('lesson_02.png').name}")


if __name__ == "__main__":
    main()
