"""Lesson 4: drafting in parallel breaks things, re-masking mends them.

Slots that are committed in the same pass don't know of each other. If "Los" and "New" are equally likely, and so are
"Angeles" and "York", then filling both slots at once gives "New Angeles" half of the time. Three remedies, by price:
commit less at a time; look again at what was unsure when it was committed; read whole spans from one joint
distribution (what the embedded reader does).

Here a table plays the model, so that nothing is hidden: we know what it believes, and can count what comes out
broken.

    python lesson_04.py

Exercise: `exercises/ex_04.py`, which spans to mask again. Check it: pytest tests/test_ex_04.py
"""

import torch
from course import picture
from remask.dllm import Policy, Sampling, TableDenoiser, from_logits
from remask.dllm.denoise import denoise

WORDS = ("Los", "New", "Angeles", "York")
MASK = 4
FIRST, SECOND = 1.0, 1.0  # logits of the fitting words, which leave the model undecided
TOGETHER = 6.0  # how much a neighbour settles it
RUNS = 400
POLICIES = {
    "both at once": Policy(commit="all"),
    "both, then both again": Policy(commit="all", remask="unsure", unsure_below=0.9, unsure_reach=0),
    "by chance, the doubtful masked again": Policy(commit="ancestral", steps=4, remask="conf"),  # ReMDM
    "one a pass": Policy(steps=2),
}


def model() -> TableDenoiser:
    table = torch.tensor([[FIRST, FIRST, -9.0, -9.0], [-9.0, -9.0, SECOND, SECOND]])
    after = torch.zeros(4, 4)
    after[0, 2] = after[1, 3] = TOGETHER  # after Los comes Angeles, after New comes York
    before = torch.zeros(4, 4)
    before[2, 0] = before[3, 1] = TOGETHER
    return TableDenoiser(table, mask_id=MASK, after_VV=after, before_VV=before)


def broken(policy: Policy) -> tuple[float, float]:
    """The share of runs that end as no city, and the passes a run took on average."""
    city, sampling = model(), Sampling(temperature=1.0)
    canvas = torch.full((RUNS, 2), MASK)
    seeds = list(range(RUNS))
    propose = from_logits(city, city.prefill([()]), [sampling] * RUNS, seed=seeds)
    run = denoise(propose, canvas, mask_id=MASK, policy=policy, seed=seeds)
    while True:
        try:
            next(run)
        except StopIteration as stop:
            done = stop.value
            break
    wrong = done.canvas_BN[:, 1] - done.canvas_BN[:, 0] != 2
    return float(wrong.float().mean()), float(done.passes_B.float().mean())


def draw(results: dict[str, tuple[float, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    for name, (wrong, passes) in results.items():
        axes.plot(passes, wrong, "o")
        axes.annotate(name, (passes, wrong), xytext=(6, 4), textcoords="offset points")
    axes.set_xlim(0.8, 6)
    axes.set_ylim(-0.05, 0.7)
    axes.set_xlabel("passes")
    axes.set_ylabel("share that is no city")
    figure.savefig(picture("lesson_04.png"), dpi=120)
    plt.close(figure)


def main() -> None:
    results = {name: broken(policy) for name, policy in POLICIES.items()}
    for name, (wrong, passes) in results.items():
        print(f"{name:38} {wrong:4.0%} broken, {passes:.1f} passes")
    draw(results)
    print(
        "\nMasked both at once, the second look is as blind as the first. Masked one at a time, the doubtful ones sooner"
        "\n(ReMDM, arXiv 2503.00307), each is seen beside its neighbour, and most of what was broken is mended."
    )


if __name__ == "__main__":
    main()
