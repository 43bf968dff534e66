"""Texts to windows of tokens, and token positions back to characters.

Every window is `[CLS] question [SEP] title sentence sentence … [SEP] title sentence …`. Passages are kept whole while they
fit; a longer one continues in the next window under its title. Knows token ids and character offsets, not what they mean.
"""

# W windows, T tokens a window; a "position" counts through all windows: window * T + column.

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ..draft import Evidence, Prompt, Source

_RUN = re.compile(r"\S+")
MARK_NONE, MARK_SENTENCE, MARK_TITLE = 0, 1, 2
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutOptions:
    """How prompts are cut. Passages are read apart, so that a second search need not read them again."""

    max_window: int = 384  # tokens; attention beyond this costs more than it gives on passages of about 110 tokens
    max_question: int = 64  # tokens; a longer question keeps its two ends
    max_title: int = 20  # tokens
    pack: bool = False  # several passages a window, as they fit (so the first weights were trained); else each apart
    max_windows: int = 16  # a prompt of more is cut by whole passages, last first


@dataclass(frozen=True, slots=True)
class TokenText:
    """A text's word pieces: ids, character spans, and whether a piece begins or ends a word."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    first: tuple[bool, ...]
    last: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """One evidence text, tokenised: its title, and its tokens with the columns where sentences begin."""

    title: tuple[int, ...]
    body: TokenText
    sentence_starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A prompt as arrays. `ids_WT` is padded with the padding id; `evidence_WT` is -1 outside evidence texts.

    `pointable_WT` marks tokens of evidence texts (not titles, not the question): what an answer may be made of.
    """

    ids_WT: IntArray
    evidence_WT: IntArray
    marks_WT: IntArray
    starts_WT: IntArray
    ends_WT: IntArray
    first_WT: NDArray[np.bool_]
    last_WT: NDArray[np.bool_]
    sentence_WT: IntArray
    left_out: tuple[int, ...]

    @property
    def pointable_WT(self) -> NDArray[np.bool_]:
        return self.ends_WT > 0

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """What the network is shown, in the order it takes it: ids, marks, evidence, pointable, first, last."""
        return self.ids_WT, self.marks_WT, self.evidence_WT, self.pointable_WT, self.first_WT, self.last_WT

    @property
    def tokens(self) -> int:
        """How many there are, padding (id 0 in every BERT vocabulary) not counted."""
        return int(np.count_nonzero(self.ids_WT))

    def row(self, window: int) -> slice:
        """The columns of a window that are not padding."""
        return slice(0, int(self.ids_WT[window].nonzero()[0].max()) + 1)

    def joined(self) -> "Layout":
        """All windows in one row, without padding. Positions change; what stands side by side in a text still does."""

        def one(array: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([array[w, self.row(w)] for w in range(len(array))])[None]

        return Layout(
            one(self.ids_WT),
            one(self.evidence_WT),
            one(self.marks_WT),
            one(self.starts_WT),
            one(self.ends_WT),
            one(self.first_WT),
            one(self.last_WT),
            one(self.sentence_WT),
            self.left_out,
        )

    def source(self, first: int, last: int) -> Source:
        """The characters from the token at position `first` to the one at `last`, both of one evidence text."""
        evidence = int(self.evidence_WT.flat[first])
        return Source(evidence, int(self.starts_WT.flat[first]), int(self.ends_WT.flat[last]))


def beginnings(layout: Layout, texts: Sequence[str]) -> NDArray[np.bool_]:
    """[W, T]: where an answer may begin. Not where nothing but punctuation comes before the next blank: the # of a heading,
    the dash of a list, a full stop."""
    allowed_WT = layout.first_WT.copy()
    for number, text in enumerate(texts):
        here_WT = (layout.evidence_WT == number) & layout.pointable_WT
        says = np.zeros(len(text) + 1, np.bool_)
        for run in _RUN.finditer(text):
            end = run.end()
            while end > run.start() and _is_mark(text[end - 1]):
                end -= 1
            says[run.start() : end] = True
        allowed_WT[here_WT] &= says[layout.starts_WT[here_WT]]
    return allowed_WT


def _is_mark(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] == "P" or kind in ("Sm", "Sk")


class Words:
    """The word-piece tokenizer of the embedder's package, with offsets. Uncased, so case comes back from the source."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._remembered = lru_cache(maxsize=256)(self._piece)
        self.pad, self.cls, self.sep = (self._special(t) for t in ("[PAD]", "[CLS]", "[SEP]"))

    def _special(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        assert found is not None, f"the tokenizer lacks {token}"
        return int(found)

    def __call__(self, text: str) -> TokenText:
        """Splits a text. Control characters and the like become no token at all."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        words = encoding.word_ids
        count = len(words)
        first = tuple(i == 0 or words[i] != words[i - 1] for i in range(count))
        last = tuple(i == count - 1 or words[i] != words[i + 1] for i in range(count))
        starts, ends = zip(*encoding.offsets, strict=True) if count else ((), ())
        return TokenText(tuple(encoding.ids), starts, ends, first, last)

    def piece(self, evidence: Evidence, options: LayoutOptions) -> Piece:
        """A text as tokens. The last few hundred are remembered: a second search shows the first one's texts again."""
        return self._remembered(evidence, options)

    def _piece(self, evidence: Evidence, options: LayoutOptions) -> Piece:
        body = self(evidence.text)
        title = self(evidence.title).ids[: options.max_title]
        return Piece(title, body, _sentence_columns(body, evidence.sentences))


def _sentence_columns(body: TokenText, sentences: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The column of the first token of each sentence; a sentence without tokens has none of its own."""
    columns: list[int] = []
    column = 0
    for start, end in sentences or ((0, 1 << 62),):
        while column < len(body.ids) and body.starts[column] < start:
            column += 1
        if column < len(body.ids) and body.starts[column] < end and column not in columns[-1:]:
            columns.append(column)
    return tuple(columns)


def shorten(ids: Sequence[int], limit: int) -> tuple[int, ...]:
    """The two ends of a long question: what is asked stands at one of them.

    >>> shorten([1, 2, 3, 4, 5, 6], 4)
    (1, 2, 5, 6)
    """
    if len(ids) <= limit:
        return tuple(ids)
    head = limit - limit // 2
    return (*ids[:head], *ids[len(ids) - limit // 2 :])


@dataclass(frozen=True, slots=True)
class _Cut:
    """Tokens `start` to `end` of one piece, to be placed in one window."""

    evidence: int
    start: int
    end: int


def arrange(words: Words, prompt: Prompt, options: LayoutOptions) -> Layout:
    """Lays a prompt out in windows."""
    question = shorten(words(prompt.question[: 64 * options.max_question]).ids, options.max_question)
    return arrange_pieces(words, question, [words.piece(e, options) for e in prompt.evidence], options)


def arrange_pieces(words: Words, question: Sequence[int], pieces: Sequence[Piece], options: LayoutOptions) -> Layout:
    """Lays tokenised texts out in windows; training calls this directly, since its texts come again and again."""
    room = options.max_window - len(question) - 2
    windows, left_out = _pack(pieces, room, options)
    width = max((sum(_cost(pieces, c) for c in w) for w in windows), default=0) + len(question) + 2
    rows = _Rows(len(windows), width, words.pad)
    for row, window in enumerate(windows):
        rows.begin(row, (words.cls, *question, words.sep))
        for cut in window:
            rows.add(row, cut, pieces[cut.evidence], words.sep)
    return rows.layout(left_out)


def _cost(pieces: Sequence[Piece], cut: _Cut) -> int:
    return len(pieces[cut.evidence].title) + cut.end - cut.start + 1


def _pack(pieces: Sequence[Piece], room: int, options: LayoutOptions) -> tuple[list[list[_Cut]], tuple[int, ...]]:
    """Fills windows in reading order, whole passages first; says which passages had no place."""
    windows: list[list[_Cut]] = [[]]
    left, left_out = room, []
    for index, piece in enumerate(pieces):
        cuts = _cuts(index, piece, room)
        trial, free = [list(windows[-1])], left if options.pack or not windows[-1] else 0
        for cut in cuts:
            cost = _cost(pieces, cut)
            if cost > free:
                trial.append([])
                free = room
            trial[-1].append(cut)
            free -= cost
        if len(windows) - 1 + len(trial) > options.max_windows:
            left_out.append(index)
            continue
        windows[-1:], left = trial, free
    return windows, tuple(left_out)


def _cuts(index: int, piece: Piece, room: int) -> list[_Cut]:
    """A piece as it is, or, longer than a window, cut before sentences where that is possible."""
    most = max(8, room - len(piece.title) - 1)
    cuts, start, count = [], 0, len(piece.body.ids)
    while count - start > most:
        best = max((c for c in piece.sentence_starts if start < c <= start + most), default=start + most)
        cuts.append(_Cut(index, start, best))
        start = best
    if count > start:
        cuts.append(_Cut(index, start, count))
    return cuts


class _Rows:
    """The arrays of a layout while they are filled."""

    def __init__(self, windows: int, width: int, pad: int) -> None:
        shape = (windows, width)
        self.ids = np.full(shape, pad, np.int64)
        self.evidence = np.full(shape, -1, np.int64)
        self.marks, self.starts, self.ends = (np.zeros(shape, np.int64) for _ in range(3))
        self.first, self.last = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        self.sentence = np.full(shape, -1, np.int64)
        self.used = [0] * windows

    def begin(self, row: int, ids: Sequence[int]) -> None:
        self.ids[row, : len(ids)] = ids
        self.used[row] = len(ids)

    def add(self, row: int, cut: _Cut, piece: Piece, sep: int) -> None:
        body, at = piece.body, self.used[row]
        text_at = at + len(piece.title)
        stop = text_at + cut.end - cut.start
        self.ids[row, at:text_at] = piece.title
        self.evidence[row, at:stop] = cut.evidence
        columns, tokens = slice(text_at, stop), slice(cut.start, cut.end)
        self.ids[row, columns] = body.ids[tokens]
        self.starts[row, columns], self.ends[row, columns] = body.starts[tokens], body.ends[tokens]
        self.first[row, columns], self.last[row, columns] = body.first[tokens], body.last[tokens]
        for number, column in enumerate(piece.sentence_starts):
            if cut.start <= column < cut.end:
                self.marks[row, text_at + column - cut.start] = MARK_SENTENCE
            if column < cut.end:
                self.sentence[row, max(text_at, text_at + column - cut.start) : stop] = number
        if piece.title:
            self.marks[row, at] = MARK_TITLE
        self.ids[row, stop] = sep
        self.used[row] = stop + 1

    def layout(self, left_out: tuple[int, ...]) -> Layout:
        return Layout(
            self.ids, self.evidence, self.marks, self.starts, self.ends, self.first, self.last, self.sentence, left_out
        )
