"""Questions to learn from: the training files, and where in their texts the answers stand.

One JSON object a line: `id, question, answers, supporting_facts, context`; `context` is `[[title, [sentence, ..]], ..]`.
"""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..draft import Evidence, Kind
from ..errors import TrainingDataUnusable
from .layout import LayoutOptions, Piece, Words

WHOLE = -1  # a citation of a whole text, not of one of its sentences


@dataclass(frozen=True, slots=True)
class Example:
    """One question with its texts. `supporting` holds (text, sentence) indexes, None where nobody marked any."""

    id: str
    question: str
    answers: tuple[str, ...]
    texts: tuple[Evidence, ...]
    supporting: tuple[tuple[int, int], ...] | None


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens `first` to `first + length` (exclusive) of text number `text`."""

    text: int
    first: int
    length: int


@dataclass(frozen=True, slots=True)
class Target:
    """What the canvas should say. `cites` are (text, sentence), None where unknown; `bridges` None likewise."""

    kind: Kind
    answers: tuple[Place, ...] = ()
    cites: tuple[tuple[int, int], ...] | None = None
    bridges: tuple[Place, ...] | None = None


def read_examples(path: Path) -> Iterator[Example]:
    """Reads a `.jsonl` or `.jsonl.gz` file. Raises TrainingDataUnusable with the row and what is wrong with it."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                yield _example(line, f"{path}, row {number}")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise TrainingDataUnusable(f"{path} can't be read: {error}") from error


def _example(line: str, where: str) -> Example:
    try:
        row: dict[str, Any] = json.loads(line)
        texts = tuple(evidence(str(title), [str(s) for s in sentences]) for title, sentences in row["context"])
        titles = [t.title for t in texts]
        facts = row.get("supporting_facts")
        supporting = None
        if facts:
            supporting = tuple((titles.index(t), int(s)) for t, s in facts if t in titles)
        return Example(str(row["id"]), str(row["question"]), tuple(map(str, row["answers"])), texts, supporting)
    except (KeyError, TypeError, ValueError) as error:
        raise TrainingDataUnusable(
            f"{where}: {type(error).__name__} {error}; each row needs id, question, answers, supporting_facts, "
            "and context as [[title, [sentence, ...]], ...]"
        ) from error


def evidence(title: str, sentences: Sequence[str]) -> Evidence:
    """Sentences joined to one text, their spans kept."""
    spans, at = [], 0
    for sentence in sentences:
        spans.append((at, at + len(sentence)))
        at += len(sentence)
    return Evidence("".join(sentences), title, tuple(spans))


def pieces_of(example: Example, words: Words, options: LayoutOptions) -> list[Piece]:
    return [words.piece(text, options) for text in example.texts]


def target_of(example: Example, pieces: Sequence[Piece], words: Words, *, longest: int) -> Target | None:
    """Where the answer stands; None when the example teaches nothing (its answer is not in its texts).

    An answer of more than `longest` tokens is taught as the sentences that hold it.
    """
    cites = None if example.supporting is None else tuple(sorted(set(example.supporting)))
    if not example.answers:
        return Target("none", cites=())
    first = example.answers[0].strip().lower().rstrip(".")
    if first in ("yes", "no"):
        kind: Kind = "yes" if first == "yes" else "no"
        return Target(kind, cites=cites, bridges=() if cites is not None else None)
    places = _places(example, pieces, words)
    if not places:
        return _told_in_other_words(example, pieces)
    if min(p.length for p in places) > longest:
        covering = {(p.text, s) for p in places[:1] for s in _sentences_of(pieces[p.text], p)}
        return Target("sentences", cites=tuple(sorted(covering))[:4])
    places = [p for p in places if p.length <= longest]
    if cites is None and len({(p.text, p.first) for p in places}) == 1:
        cites = tuple((places[0].text, s) for s in _sentences_of(pieces[places[0].text], places[0]))[:4]
    return Target("span", tuple(places), cites, _bridges(example, pieces, words, places, longest=6))


def _places(example: Example, pieces: Sequence[Piece], words: Words) -> list[Place]:
    """Every occurrence of a right answer, in supporting sentences if there are such, else in supporting texts."""
    places: list[Place] = []
    for answer in dict.fromkeys(a.strip() for a in example.answers):
        ids = words(answer).ids
        for text in _gold_texts(example):
            places += (Place(text, at, len(ids)) for at in find(pieces[text], ids))
    marked = set(example.supporting or ())
    inside = [p for p in places if any((p.text, s) in marked for s in _sentences_of(pieces[p.text], p))]
    return list(dict.fromkeys(inside or places))[:16]


def _gold_texts(example: Example) -> list[int]:
    if example.supporting:
        return sorted({text for text, _ in example.supporting})
    return list(range(len(example.texts)))


def find(piece: Piece, ids: Sequence[int]) -> list[int]:
    """The columns where `ids` stands as whole words."""
    body, n = piece.body, len(ids)
    if not n:
        return []
    return [
        i
        for i in range(len(body.ids) - n + 1)
        if body.ids[i] == ids[0] and body.ids[i : i + n] == tuple(ids) and body.first[i] and body.last[i + n - 1]
    ]


def _sentences_of(piece: Piece, place: Place) -> list[int]:
    """The numbers of the sentences a place touches."""
    starts = piece.sentence_starts
    stop = place.first + place.length
    return [n for n, s in enumerate(starts) if s < stop and (n + 1 == len(starts) or starts[n + 1] > place.first)]


def _bridges(
    example: Example, pieces: Sequence[Piece], words: Words, answers: Sequence[Place], *, longest: int
) -> tuple[Place, ...] | None:
    """Mentions, in one supporting text, of another's title: what to look up next. The answer's own text is not left."""
    if example.supporting is None:
        return None
    gold = _gold_texts(example)
    found: list[Place] = []
    for text in gold:
        for other in gold:
            title = re.sub(r"\s*\([^)]*\)$", "", example.texts[other].title)
            if other != text and len(ids := words(title).ids) <= longest:
                found += (Place(text, at, len(ids)) for at in find(pieces[text], ids))
    said = {(p.text, p.first) for p in answers}
    return tuple(p for p in found if (p.text, p.first) not in said)[:8]


def _told_in_other_words(example: Example, pieces: Sequence[Piece]) -> Target | None:
    """A free answer that one sentence almost says teaches that sentence."""
    wanted = set(re.findall(r"\w{3,}", example.answers[0].lower()))
    if len(wanted) < 3:
        return None
    best_score, best_at = 0.0, (0, 0)
    for text, piece in enumerate(pieces):
        spans = example.texts[text].sentences
        for number in range(min(len(piece.sentence_starts), len(spans))):
            sentence = example.texts[text].text[slice(*spans[number])].lower()
            score = len(wanted & set(re.findall(r"\w{3,}", sentence))) / len(wanted)
            if score > best_score:
                best_score, best_at = score, (text, number)
    return Target("sentences", cites=(best_at,)) if best_score >= 0.7 else None
