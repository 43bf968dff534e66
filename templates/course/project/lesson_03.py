"""Lesson 3: what masked diffusion is. Train a toy and watch it denoise.

A masked diffusion model learns one thing: given a text of which some words are masked, what stood there? In training
a share t of the words is masked, with t drawn anew each time, from a little to all. To write, start with everything
masked, let the model propose every word at once, keep those it is surest of, and ask again. Four words may be settled
in one pass, where a left-to-right model needs four.

Our toy speaks a language with one rule: the boat decides the port and the port decides the pier. It is two layers of
attention and trains in less than a minute.

    python lesson_03.py

Exercise: `exercises/ex_03.py`, the noising step. Check it: pytest tests/test_ex_03.py
"""

import random

import torch
from course import picture
from remask.dllm import Policy, from_logits
from remask.dllm.denoise import denoise
from torch import Tensor, nn

SAILINGS = {
    "sula": ("kvitnes", "east"),
    "vega": ("bodo", "north"),
    "alma": ("rana", "west"),
    "hilde": ("leka", "south"),
}
DAYS = ("monday", "tuesday", "friday", "sunday")
WORDS = sorted(
    {"on", "the", "leaves", "for", "from", "pier", *DAYS, *SAILINGS, *(w for s in SAILINGS.values() for w in s)}
)
MASK = len(WORDS)
LENGTH = 9


def sentence(rng: random.Random) -> str:
    boat = rng.choice(list(SAILINGS))
    port, pier = SAILINGS[boat]
    return f"on {rng.choice(DAYS)} {boat} leaves for {port} from pier {pier}"


def ids(text: str) -> list[int]:
    return [WORDS.index(word) for word in text.split()]


def said(row: Tensor) -> str:
    return " ".join("▒" if i == MASK else WORDS[i] for i in row.tolist())


class Toy(nn.Module):
    """Sees the whole canvas, left and right. It is a `Denoiser`: `prefill` and `predict` are all the loop asks for."""

    mask_id = MASK

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS) + 1, width)
        self.places = nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, len(WORDS))

    def forward(self, canvas_BN: Tensor) -> Tensor:
        x: Tensor = self.words(canvas_BN) + self.places(torch.arange(canvas_BN.shape[1]))
        out: Tensor = self.out(self.body(x))
        return out

    def prefill(self, prompts: object) -> tuple[()]:
        return ()

    @torch.inference_mode()
    def predict(self, state: tuple[()], canvas_BN: Tensor) -> Tensor:
        return self(canvas_BN)


def train(steps: int = 400, seed: int = 0) -> tuple[Toy, list[float]]:
    """The model and its loss at every step: cross-entropy on the masked words only."""
    torch.manual_seed(seed)
    rng, toy = random.Random(seed), Toy()
    optimizer = torch.optim.AdamW(toy.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        clean = torch.tensor([ids(sentence(rng)) for _ in range(48)])
        share = torch.rand(len(clean), 1)
        hidden = torch.rand(clean.shape) < share.clamp(min=0.1)
        logits = toy(clean.masked_fill(hidden, MASK))
        loss = nn.functional.cross_entropy(logits[hidden], clean[hidden])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    return toy.eval(), losses


def write(toy: Toy, policy: Policy, *, seed: int = 0) -> list[str]:
    """The canvas before the first pass and after every one."""
    canvas = torch.full((1, LENGTH), MASK)
    steps = denoise(from_logits(toy, toy.prefill([()])), canvas, mask_id=MASK, policy=policy, seed=seed)
    return [said(canvas[0]), *(said(step.canvas_BN[0]) for step in steps)]


def draw(losses: list[float]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    axes.plot(losses, color="#4477aa")
    axes.set_xlabel("training step")
    axes.set_ylabel("loss on masked words")
    figure.savefig(picture("lesson_03.png"), dpi=120)
    plt.close(figure)


def main() -> None:
    toy, losses = train()
    print(
        f"loss {losses[0]:.2f} at first, {sum(losses[-20:]) / 20:.2f} at the end (it can't know the day, nor the boat)"
    )
    draw(losses)
    for name, policy in (("one word a pass", Policy(steps=LENGTH)), ("all it is sure of", Policy(commit="threshold"))):
        print(f"\n{name}")
        for canvas in write(toy, policy):
            print(f"  {canvas}")


if __name__ == "__main__":
    main()
