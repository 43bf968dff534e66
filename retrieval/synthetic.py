"""Text and vectors that cost what real ones cost, in any number: for measuring sizes for which there is no corpus.

Words follow Zipf's law in its two regimes, as fitted to real texts, passages are as long as real ones, and vectors lie in
clusters. The texts mean nothing: nothing here says how well anything is found, only how soon and in how much memory.
"""

# V words, N vectors, D dimensions

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .postings import Floats
from .words import query_words

VOCABULARY = 500_000
"""How many different words there are in all: rare ones go on appearing, as in a real corpus."""

KNEE = 3_000
"""Where the law of frequent words ends and the steeper one of rare words begins: two regimes, as Ferrer i Cancho and Solé
found (J. Quantitative Linguistics 8, 2001). With one law alone, fitted to the same
paragraphs, a million words would hold 99,000 different ones, not 48,000."""

CHUNK = 10_000
_EXPONENTS = np.arange(0.70, 1.31, 0.05).round(2)
_TAILS = np.arange(1.0, 2.61, 0.2).round(1)


@dataclass(frozen=True, slots=True)
class TextModel:
    """The word of rank r (from 1) has a share like r ** -exponent up to `KNEE`, from there like r ** -tail."""

    exponent: float
    tail: float
    lengths: tuple[int, ...]
    """Words of passages, each as likely."""
    words: tuple[str, ...] = ()
    """Real words by rank; later ranks are made up."""

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> "TextModel":
        """The exponents of greatest likelihood on a grid. ValueError where the texts have no words."""
        counts: Counter[str] = Counter()
        lengths = []
        for text in texts:
            found = query_words(text)
            counts.update(found)
            lengths.append(len(found))
        if not counts:
            raise ValueError("there are no words to fit to. Give a corpus with text")
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        exponent, tail = _likeliest(np.array([count for _, count in ranked], dtype=np.float64))
        return cls(exponent, tail, tuple(length for length in lengths if length), tuple(word for word, _ in ranked))

    def word(self, rank: int) -> str:
        """Ranks from 0."""
        return self.words[rank] if rank < len(self.words) else f"w{rank}"

    def texts(self, count: int, *, seed: int) -> Iterator[list[str]]:
        """In chunks of at most 10,000; the same for the same seed, and a smaller count is the beginning of a larger."""
        heights = np.cumsum(shares(self.exponent, self.tail, max(VOCABULARY, len(self.words))))
        names = np.array([self.word(rank) for rank in range(len(heights))], dtype=object)
        for number, first in enumerate(range(0, count, CHUNK)):
            random = np.random.default_rng((seed, number))
            sizes = random.choice(self.lengths, CHUNK)
            ranks = np.searchsorted(heights, random.random(int(sizes.sum())) * heights[-1])
            ends = np.cumsum(sizes)
            words = names[np.minimum(ranks, len(names) - 1)]
            chunk = [" ".join(words[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
            yield chunk[: count - first]

    def queries(self, count: int, *, seed: int, words: int = 8) -> list[str]:
        """Of the middle ranks, as questions are: neither stop words alone nor words that occur nowhere."""
        random = np.random.default_rng((seed, 1 << 20))
        ranks = np.exp(random.uniform(np.log(5), np.log(50_000), (count, words))).astype(int)
        return [" ".join(self.word(int(rank)) for rank in row) for row in ranks]


def shares(exponent: float, tail: float, count: int) -> npt.NDArray[np.float64]:
    """(V,) adding up to 1.

    >>> shares(1.0, 2.0, 2).round(3).tolist()
    [0.667, 0.333]
    """
    ranks = np.arange(1, count + 1, dtype=np.float64)
    weights = np.minimum(ranks, KNEE) ** -exponent * np.maximum(ranks / KNEE, 1) ** -tail
    return np.asarray(weights / weights.sum())


def unit_vectors(count: int, dimension: int, *, seed: int, clusters: int = 1000, part: int = 0) -> Iterator[Floats]:
    """In chunks of at most 10,000: a centre and as much noise, so two vectors of a cluster have a cosine of about 0.5 and
    others about 0. `part` gives other vectors around the same centres: questions."""
    centres = _normal(np.random.default_rng((seed, 1)), (clusters, dimension))
    for number, first in enumerate(range(0, count, CHUNK)):
        random = np.random.default_rng((seed, 2, part, number))
        chosen = centres[random.integers(0, clusters, CHUNK)]
        yield _unit(chosen + _normal(random, (CHUNK, dimension)))[: count - first]


def _normal(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return _unit(random.standard_normal(shape, dtype=np.float32))


def _unit(vectors_ND: Floats) -> Floats:
    return np.asarray(vectors_ND / np.linalg.norm(vectors_ND, axis=1, keepdims=True), dtype=np.float32)


def _likeliest(counts_V: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Words that were not seen have their share too, or rare ones would seem commoner than they are."""
    best = (-np.inf, 1.0, 1.0)
    seen = len(counts_V)
    for exponent in _EXPONENTS.tolist():
        for tail in _TAILS.tolist():
            likelihood = float(counts_V @ np.log(shares(exponent, tail, max(VOCABULARY, seen))[:seen]))
            best = max(best, (likelihood, exponent, tail))
    return best[1], best[2]


def passages_of(texts: Iterable[str], words: int = 90) -> list[str]:
    """Texts cut into pieces of so many words, to fit lengths to where no passages are given."""
    found = []
    for text in texts:
        split = text.split()
        found += [" ".join(split[start : start + words]) for start in range(0, len(split), words)]
    return found


WIKIPEDIA = TextModel(0.95, 1.8, (28, 43, 55, 66, 77, 88, 100, 116, 138, 185))
"""Fitted to the 16,837 paragraphs of Wikipedia (1.5 million words) around 250 questions of HotpotQA's development set; lengths
are the middles of ten equal shares. A million words drawn from it hold 45,000 different ones, of those paragraphs 48,000."""
