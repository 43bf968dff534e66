"""The stream of training examples: sources mixed by weight, texts shuffled, distracted, dropped, batched by length."""

import random
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import TrainingDataUnusable
from .examples import Example, Target, find, pieces_of, read_examples, target_of
from .layout import Layout, LayoutOptions, Piece, Words, arrange_pieces, shorten

FEW = 4  # wrong texts that are left, at most, where they are thinned out
HELD_OUT = 20  # one row in so many is never trained on; it gives the dev score


class SourceOptions(BaseModel):
    """One file of a mixture."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    weight: float = Field(gt=0)
    distractors: float = Field(default=0.0, ge=0, le=1, description="chance that one to three other texts are added")
    drop: float = Field(default=0.0, ge=0, le=1, description="chance that the texts with the answer are taken away")
    fewer: float = Field(default=0.0, ge=0, le=1, description="chance that few wrong texts are left")


class Mixture(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: tuple[SourceOptions, ...] = Field(min_length=1)


def read_mixture(path: Path) -> Mixture:
    try:
        return Mixture.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise TrainingDataUnusable(f"{path} is not a mixture: {wrong}") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TrainingDataUnusable(f"{path} is not a mixture: {error}") from error


class Prepared(NamedTuple):
    """An example, tokenised once."""

    example: Example
    question: tuple[int, ...]
    pieces: list[Piece]
    target: Target


class Composed(NamedTuple):
    """An example as it is shown this time."""

    layout: Layout
    target: Target
    right: tuple[tuple[int, ...], ...]
    """Token ids of every right answer."""


class Source:
    """The rows of one file, split into rows to train on and rows held out by a hash of their id."""

    def __init__(self, options: SourceOptions, path: Path, words: Words, layout: LayoutOptions, longest: int) -> None:
        self.options = options
        self.train: list[Prepared] = []
        self.dev: list[Prepared] = []
        for example in read_examples(path):
            pieces = pieces_of(example, words, layout)
            target = target_of(example, pieces, words, longest=longest)
            if target is not None and any(p.body.ids for p in pieces):
                question = shorten(words(example.question).ids, layout.max_question)
                prepared = Prepared(example, question, pieces, target)
                (self.dev if _held_out(example.id) else self.train).append(prepared)
        self.titled: dict[str, list[Prepared]] = {}
        for prepared in self.train:
            self.titled.setdefault(prepared.example.texts[0].title, []).append(prepared)
        if not self.train:
            raise TrainingDataUnusable(f"{path} has no row whose answer stands in its texts")

    @property
    def share(self) -> float:
        return len(self.train) * self.options.weight


def _held_out(example_id: str) -> bool:
    return zlib.crc32(example_id.encode()) % HELD_OUT == 0


def load_sources(mixture: Mixture, folder: Path, words: Words, layout: LayoutOptions, longest: int) -> list[Source]:
    missing = [s.file for s in mixture.source if not (folder / s.file).is_file()]
    if missing:
        raise TrainingDataUnusable(f"{folder} lacks {', '.join(missing)}, which the mixture names")
    return [Source(s, folder / s.file, words, layout, longest) for s in mixture.source]


class Composer:
    """Shows prepared examples, each time differently. `seed` fixes what is shown."""

    def __init__(self, words: Words, layout: LayoutOptions, seed: int) -> None:
        self.words, self.layout, self.random = words, layout, random.Random(seed)

    def compose(self, prepared: Prepared, source: Source) -> Composed:
        pieces, target = list(prepared.pieces), prepared.target
        keep = list(range(len(pieces)))
        needed = _needed(target, len(pieces))
        if self.random.random() < source.options.fewer:
            others = [i for i in keep if i not in needed]
            chosen = set(self.random.sample(others, self.random.randint(0, min(FEW, len(others)))))
            keep = [i for i in keep if i in needed or i in chosen]
        distracted = self.random.random() < source.options.distractors
        extra = self._others(prepared, source) if distracted else []
        if target.kind != "none" and self.random.random() < source.options.drop:
            left, other = self._without_answer(prepared, keep, extra)
            if left or other:
                keep, extra, target = left, other, _unanswerable(target, left)
        shown = [(pieces[i], i) for i in keep] + [(p, -1) for p in extra]
        if len(keep) > 1 or extra:
            self.random.shuffle(shown)
        where = {old: new for new, (_, old) in enumerate(shown) if old >= 0}
        layout = arrange_pieces(self.words, prepared.question, [self._piece(p) for p, _ in shown], self.layout)
        right = tuple(dict.fromkeys(self._ids(prepared, p.text, p.first, p.length) for p in target.answers))
        return Composed(layout, _moved(target, where), right)

    def _without_answer(self, prepared: Prepared, keep: list[int], extra: list[Piece]) -> tuple[list[int], list[Piece]]:
        """What is left when every text with a right answer is taken away; of yes and no, one that is needed."""
        target, pieces = prepared.target, prepared.pieces
        if not target.answers:
            gone = {self.random.choice(target.cites)[0]} if target.cites else set(keep)
            return [i for i in keep if i not in gone], extra
        answers = {self._ids(prepared, p.text, p.first, p.length) for p in target.answers}
        without = [not any(find(piece, ids) for ids in answers) for piece in (*pieces, *extra)]
        return [i for i in keep if without[i]], list(compress(extra, without[len(pieces) :]))

    def _piece(self, piece: Piece) -> Piece:
        """Now and then without its title: users' texts often have none."""
        return replace(piece, title=()) if self.random.random() < 0.1 else piece

    def _others(self, prepared: Prepared, source: Source) -> list[Piece]:
        """Wrong texts, half of the time of the same article: those are harder to tell from the right one."""
        near = source.titled.get(prepared.example.texts[0].title, [])
        rows = near if len(near) > 3 and self.random.random() < 0.5 else source.train
        picked = self.random.sample(rows, min(len(rows), self.random.randint(1, 3)))
        shown = {text.text for text in prepared.example.texts}
        others = [(p, self.random.randrange(len(p.pieces))) for p in picked]
        return [p.pieces[n] for p, n in others if p.example.texts[n].text not in shown]

    @staticmethod
    def _ids(prepared: Prepared, text: int, first: int, length: int) -> tuple[int, ...]:
        return prepared.pieces[text].body.ids[first : first + length]


def _needed(target: Target, count: int) -> set[int]:
    """The texts that must stay. Where nothing tells, all."""
    if target.cites is None:
        return set(range(count))
    return {t for t, _ in target.cites} | {p.text for p in target.answers} | {p.text for p in target.bridges or ()}


def _unanswerable(target: Target, left: Sequence[int]) -> Target:
    """What to say of the texts that are left: no answer, and where to look for more, which they may still tell."""
    bridges = tuple(p for p in target.bridges or () if p.text in left)
    half = any(text in left for text, _ in target.cites or ())
    return Target("none", cites=None if half else (), bridges=bridges or None)


def _moved(target: Target, where: dict[int, int]) -> Target:
    def places(given: Sequence) -> tuple:  # type: ignore[type-arg]
        return tuple(replace(p, text=where[p.text]) for p in given)

    cites = target.cites and tuple(sorted((where[t], s) for t, s in target.cites))
    bridges = target.bridges and places(target.bridges)
    return Target(target.kind, places(target.answers), cites, bridges)


def batches(
    sources: Sequence[Source], composer: Composer, *, tokens: int, pool: int = 600, most: int = 32
) -> Iterator[list[Composed]]:
    """Endless batches of at most `tokens` tokens, padding not counted, all of one batch with the same number of windows."""
    streams = [_endless(s, composer) for s in sources]
    while True:
        drawn = composer.random.choices(range(len(sources)), [s.share for s in sources], k=pool)
        composed = [next(streams[i]) for i in drawn]
        composed.sort(key=lambda c: (c.layout.ids_WT.shape, composer.random.random()))
        cut = list(_cut(composed, tokens, most))
        composer.random.shuffle(cut)
        yield from cut


def _endless(source: Source, composer: Composer) -> Iterator[Composed]:
    order = list(source.train)
    while True:
        composer.random.shuffle(order)
        for prepared in order:
            yield composer.compose(prepared, source)


def _cut(composed: Sequence[Composed], tokens: int, most: int) -> Iterator[list[Composed]]:
    batch: list[Composed] = []
    left = tokens
    for item in composed:
        windows, count = len(item.layout.ids_WT), item.layout.tokens
        if batch and (len(batch) >= most or count > left or len(batch[0].layout.ids_WT) != windows):
            yield batch
            batch, left = [], tokens
        batch.append(item)
        left -= count
    if batch:
        yield batch
