"""Trains the embedded reader: resumable, safe to kill at any moment, the same on a CPU and a GPU.

A run is a folder: `checkpoint.safetensors` (weights, their moving average, the optimizer's state), `state.json`,
`log.jsonl`, and `reader.safetensors`, the half-precision weights to ship.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ..errors import WeightsUnusable
from .layout import LayoutOptions, Words
from .loss import Batch, collate, losses
from .mixture import Composed, Composer, Source, batches, load_sources, read_mixture
from .model import Reader, ReaderShape
from .precision import Precision, use_bfloat16
from .weights import load_reader, load_words, new_reader, save_reader

MIXTURE = Path(__file__).with_name("mixture.toml")
Score = Callable[[Reader, list[Source]], dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """How to train. What the shipped weights were trained with: RESULTS.md."""

    total_tokens: int = 14_000_000  # prompt tokens, padding not counted, over which the learning rate's schedule runs
    batch_tokens: int = 4096  # prompt tokens a step
    backbone_rate: float = 1.2e-4  # learning rate of what came pre-trained
    new_rate: float = 1e-3  # and of what did not
    warmup: float = 0.02  # share of the schedule
    cooldown: float = 0.35  # share of the schedule over which the rate falls to 3%
    averaging: float = 0.999  # decay of the moving average that is shipped
    clip: float = 1.0
    save_seconds: float = 120.0
    dev_seconds: float = 900.0
    seed: int = 0
    device: str = "cpu"
    precision: Precision = "auto"
    mixture: Path = MIXTURE
    start: Path | None = None  # trained weights a new run begins with, instead of the encoder's
    frozen: int = 0  # so many of the encoder's layers, the lowest, stay as they are, and what is below them
    layout: LayoutOptions = field(default_factory=LayoutOptions)
    shape: ReaderShape = field(default_factory=ReaderShape)


@dataclass(slots=True)
class Progress:
    """Where a run stands."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    restarts: int = 0


class Trainer:
    """One run in one folder."""

    def __init__(self, data: Path, out: Path, options: TrainOptions, *, score: Score | None = None) -> None:
        self.out, self.options, self.score = out, options, score
        self.device = torch.device(options.device)
        self.words: Words = load_words()
        self.sources = load_sources(
            read_mixture(options.mixture), data, self.words, options.layout, options.shape.answer
        )
        self.reader = self._fresh().to(self.device)
        for part in self.reader.lowest(options.frozen):
            part.requires_grad_(False)
        self.average = {n: p.detach().clone() for n, p in self._trained()}
        self.optimizer = self._optimizer()
        self.progress = Progress()
        out.mkdir(parents=True, exist_ok=True)
        if (out / "state.json").exists():
            self._resume()

    def _fresh(self) -> Reader:
        if self.options.start is None:
            return new_reader(self.options.shape, seed=self.options.seed)
        loaded = load_reader(self.options.start)
        if loaded.reader.shape != self.options.shape:
            raise WeightsUnusable(
                f"{self.options.start} has the shape {loaded.reader.shape}, this run {self.options.shape}. Start without it."
            )
        return loaded.reader.train().requires_grad_(True)

    def _trained(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        return ((n, p) for n, p in self.reader.named_parameters() if p.requires_grad)

    def _kept(self) -> Iterator[tuple[str, torch.nn.Parameter]]:
        """What a checkpoint holds: all but the word embeddings, which are in the embedder's package."""
        return ((n, p) for n, p in self.reader.named_parameters() if n != "words.weight")

    def _optimizer(self) -> torch.optim.AdamW:
        backbone = {id(p) for p in self.reader.backbone()}
        old = [p for _, p in self._trained() if id(p) in backbone]
        new = [p for _, p in self._trained() if id(p) not in backbone]
        o = self.options
        groups = [{"params": old, "peak": o.backbone_rate}, {"params": new, "peak": o.new_rate}]
        return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), weight_decay=0.01)

    def run(self, *, seconds: float, report: Callable[[dict[str, Any]], None]) -> Progress:
        """Trains until the schedule's end or for so many seconds; saves at the end, and now and then before."""
        bfloat = use_bfloat16(self.options.precision, self.device)
        begin = saved = scored = time.monotonic()
        running: dict[str, float] = {}
        for batch in self._batches():
            self._step(batch, bfloat, running)
            now = time.monotonic()
            self.progress.seconds += now - begin
            begin, left = now, seconds - (now - begin)
            seconds = left
            done = left <= 0 or self.progress.tokens >= self.options.total_tokens
            if self.progress.step % 50 == 0 or done:
                report(self._log(running))
            if now - saved > self.options.save_seconds or done:
                self.save()
                saved = time.monotonic()
            if self.score and (now - scored > self.options.dev_seconds or done):
                report(self._log(self._scores()))
                scored = time.monotonic()
            if done:
                break
        return self.progress

    def _batches(self) -> Iterator[Batch]:
        # A resumed run sees other examples than its first part did: the seed counts the restarts.
        composer = Composer(self.words, self.options.layout, self.options.seed + 1000 * self.progress.restarts)
        for composed in batches(self.sources, composer, tokens=self.options.batch_tokens):
            yield self._collated(composed)

    def _collated(self, composed: list[Composed]) -> Batch:
        return collate(composed, self.options.shape, pad=self.words.pad).to(self.device)

    def _step(self, batch: Batch, bfloat: bool, running: dict[str, float]) -> None:
        self._set_rates()
        generator = torch.Generator().manual_seed(self.options.seed * 1_000_003 + self.progress.step)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=bfloat):
            parts = losses(self.reader, batch, pad=self.words.pad, generator=generator)
            total = torch.stack(list(parts.values())).sum()
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.reader.parameters(), self.options.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._update_average()
        self.progress.step += 1
        self.progress.tokens += int((batch.ids != self.words.pad).sum())
        for name, value in parts.items():
            running[name] = 0.98 * running.get(name, value.item()) + 0.02 * value.item()

    def _set_rates(self) -> None:
        share = self.progress.tokens / self.options.total_tokens
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * rate_factor(share, self.options.warmup, self.options.cooldown)

    def _update_average(self) -> None:
        # Young averages forget faster, or the random beginning would stay in them for long.
        decay = min(self.options.averaging, (1 + self.progress.step) / (10 + self.progress.step))
        with torch.no_grad():
            current = [p for _, p in self._trained()]
            torch._foreach_lerp_(list(self.average.values()), current, 1 - decay)  # type: ignore[arg-type]

    def averaged(self) -> Reader:
        """A copy of the reader with the averaged weights."""
        copy = Reader(self.options.shape).to(self.device)
        copy.load_state_dict(self._state())
        return copy.eval().requires_grad_(False)

    def _state(self) -> dict[str, Tensor]:
        """Everything the reader is, what was trained averaged."""
        return {**self.reader.state_dict(), **self.average}

    def _scores(self) -> dict[str, float]:
        assert self.score is not None
        return {f"dev_{k}": v for k, v in self.score(self.averaged(), self.sources).items()}

    def _log(self, values: dict[str, float]) -> dict[str, Any]:
        row = {**asdict(self.progress), **{k: round(v, 4) for k, v in values.items()}}
        with (self.out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        return row

    def save(self) -> None:
        """Writes a checkpoint and the weights to ship, each whole or not at all."""
        state = {f"reader.{n}": p.detach().contiguous() for n, p in self._kept()}
        state |= {f"average.{n}": t.contiguous() for n, t in self.average.items()}
        state |= self._optimizer_tensors()
        save_reader(self.out / "reader.safetensors", self._state(), self.options.shape, self.options.layout)
        aside = self.out / f".checkpoint.{os.getpid()}"
        save_file(state, aside, metadata={"progress": json.dumps(asdict(self.progress))})
        os.replace(aside, self.out / "checkpoint.safetensors")
        aside.write_text(json.dumps(asdict(self.progress)), encoding="utf-8")
        os.replace(aside, self.out / "state.json")

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        """Adam's two moments, by the parameter's name."""
        return {
            f"{key}.{name}": self.optimizer.state[p][key].contiguous()
            for name, p in self._trained()
            for key in ("exp_avg", "exp_avg_sq")
            if p in self.optimizer.state
        }

    def _resume(self) -> None:
        path = self.out / "checkpoint.safetensors"
        try:
            stored = load_file(path, device=str(self.device))
            from_file = json.loads((self.out / "state.json").read_text(encoding="utf-8"))
            self.progress = Progress(**from_file)
        except (OSError, ValueError, TypeError, SafetensorError) as error:
            raise WeightsUnusable(f"{self.out} holds a damaged run: {error}. Move it away to start anew.") from error
        self.progress.restarts += 1
        for name, p in self._kept():
            if f"reader.{name}" not in stored or stored[f"reader.{name}"].shape != p.shape:
                raise WeightsUnusable(f"{path} was trained with another shape of reader: {name!r} does not fit")
            p.data.copy_(stored[f"reader.{name}"])
        for name, p in self._trained():
            if f"average.{name}" not in stored:
                raise WeightsUnusable(f"{path} was trained with {name!r} frozen. Go on with as many frozen layers")
            self.average[name].copy_(stored[f"average.{name}"])
            if f"exp_avg.{name}" in stored:
                self.optimizer.state[p] = {
                    "step": torch.tensor(float(self.progress.step)),
                    "exp_avg": stored[f"exp_avg.{name}"],
                    "exp_avg_sq": stored[f"exp_avg_sq.{name}"],
                }


def rate_factor(share: float, warmup: float, cooldown: float) -> float:
    """The learning rate's factor after a share of the schedule: up, level, and down to 3%.

    >>> [round(rate_factor(s, 0.1, 0.5), 2) for s in (0.05, 0.3, 0.75, 1.0)]
    [0.5, 1.0, 0.52, 0.03]
    """
    if share < warmup:
        return max(share / warmup, 0.01)
    down = min(1.0, max(0.0, (share - (1 - cooldown)) / cooldown))
    return 1.0 - 0.97 * down
