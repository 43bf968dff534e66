"""Which words occur in which passages, how often: arrays that can be saved, extended, and weighed by BM25.

Knows nothing of text, nor of how a ranking is made.
"""

# N passages, V words, P pairs of a word and a passage that holds it

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Postings:
    """Pairs sorted by word: those of word `w` lie at `offsets[w]` to `offsets[w + 1]`."""

    vocabulary: dict[str, int]
    offsets_V1: Offsets
    passages_P: Ints
    counts_P: Ints
    lengths_N: Ints

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]]) -> "Postings":
        """From the words of each passage."""
        return cls.gathered([texts])

    @classmethod
    def gathered(cls, chunks: Iterable[Sequence[Sequence[str]]]) -> "Postings":
        """From the words of each passage, a chunk at a time: what is held is counts, never the words of them all."""
        vocabulary: dict[str, int] = {}
        counted = [_count(texts, vocabulary) for texts in chunks]
        spreads = [np.pad(np.diff(offsets), (0, len(vocabulary) + 1 - len(offsets))) for offsets, *_ in counted]
        offsets_V1 = np.concatenate([[0], np.cumsum(sum(spreads, np.zeros(len(vocabulary), dtype=np.int64)))])
        passages_P, counts_P = np.empty(offsets_V1[-1], np.int32), np.empty(offsets_V1[-1], np.int32)
        free_V, first = offsets_V1[:-1].copy(), 0
        for spread, (_, passages, counts, lengths) in zip(spreads, counted, strict=True):
            # Where each pair goes: the word's next free place, and on from there.
            places = np.repeat(free_V - np.cumsum(spread) + spread, spread) + np.arange(len(passages))
            passages_P[places] = passages + np.int32(first)
            counts_P[places] = counts
            free_V += spread
            first += len(lengths)
        lengths_N = np.concatenate([lengths for *_, lengths in counted]) if counted else np.zeros(0, np.int32)
        return cls(vocabulary, offsets_V1.astype(np.int64), passages_P, counts_P, lengths_N)

    def extended(self, texts: Sequence[Sequence[str]]) -> "Postings":
        """These and further passages after them. Costs a copy, not a recount."""
        vocabulary = dict(self.vocabulary)
        offsets, passages, counts, lengths = _count(texts, vocabulary)
        old_offsets = np.pad(self.offsets_V1, (0, len(vocabulary) - len(self.vocabulary)), mode="edge")
        places = np.repeat(old_offsets[1:], np.diff(offsets))  # each new pair goes after the word's old ones
        return Postings(
            vocabulary,
            old_offsets + offsets,
            np.insert(self.passages_P, places, passages + np.int32(len(self.lengths_N))),
            np.insert(self.counts_P, places, counts),
            np.concatenate([self.lengths_N, lengths]),
        )

    def taken(self, order_M: Offsets) -> "Postings":
        """The passages at these positions, in this order; no position twice. Words of none of them are forgotten."""
        position_N = np.full(len(self.lengths_N), -1, dtype=np.int32)
        position_N[order_M] = np.arange(len(order_M), dtype=np.int32)
        moved_P = position_N[self.passages_P]
        kept_P = moved_P >= 0
        offsets = np.concatenate([[0], np.cumsum(kept_P)])[self.offsets_V1]
        used = np.diff(offsets) > 0
        words = (word for word, still in zip(self.vocabulary, used.tolist(), strict=True) if still)
        return Postings(
            {word: number for number, word in enumerate(words)},
            np.concatenate([[0], offsets[1:][used]]).astype(np.int64),
            moved_P[kept_P],
            np.asarray(self.counts_P)[kept_P],
            np.asarray(self.lengths_N)[order_M],
        )

    def weights(self, k1: float, b: float) -> Floats:
        """What each pair adds to a passage's score: Lucene's BM25, table 1 of Kamphuis et al., ECIR 2020.

        idf = ln(1 + (N - n + 0.5) / (n + 0.5)), never negative; times tf / (tf + k1 (1 - b + b length / mean length)).
        """
        spread_V = np.diff(self.offsets_V1)
        idf_V = np.log1p((len(self.lengths_N) - spread_V + 0.5) / (spread_V + 0.5))
        mean = max(float(np.mean(self.lengths_N)) if len(self.lengths_N) else 1.0, 1e-9)
        damping_N = k1 * (1 - b + b * self.lengths_N / mean)
        weights_P = np.repeat(idf_V, spread_V) * (self.counts_P / (self.counts_P + damping_N[self.passages_P]))
        return weights_P.astype(np.float32)


def _count(texts: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> tuple[Offsets, Ints, Ints, Ints]:
    """Offsets, passages, counts and lengths of these texts alone; new words are added to `vocabulary`."""
    lengths = np.fromiter((len(text) for text in texts), dtype=np.int32, count=len(texts))
    words = np.fromiter(
        (vocabulary.setdefault(word, len(vocabulary)) for word in chain.from_iterable(texts)),
        dtype=np.int64,
        count=int(lengths.sum()),
    )
    passages = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    pairs, counts = np.unique(words * max(len(texts), 1) + passages, return_counts=True)
    word_of_pair, passage_of_pair = np.divmod(pairs, max(len(texts), 1))
    spread = np.bincount(word_of_pair, minlength=len(vocabulary))
    offsets = np.concatenate([[0], np.cumsum(spread)]).astype(np.int64)
    return offsets, passage_of_pair.astype(np.int32), counts.astype(np.int32), lengths
