"""Questions made from texts alone: a name or number that stands in two texts is hidden in one and pointed at in the other.

    python -m remask.dllm.mini.recurring CORPUS.jsonl.gz DATA/recurring.jsonl.gz --rows 10000

Recurring-span selection (Ram et al., Splinter, arXiv 2101.00438) with retrieval's own difficulty added: the other texts that
are shown share rare words with the question, too, but not the answer. Rows are laid out as every training file is.
"""

import gzip
import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..errors import TrainingDataUnusable

HIDDEN = "what"
"""Stands in the question where the span stood."""

_WORD = re.compile(r"\w+")
# Words with a capital, joined by small ones that names hold; or a number, with its month if there is one.
_NAME = re.compile(r"[A-Z][\w'’.-]*\w(?:(?: (?:of|the|and|de|von|van|for|in))* [A-Z][\w'’.-]*\w){0,5}")
_NUMBER = re.compile(r"(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d[\d,.]*\d")


class Text(NamedTuple):
    title: str
    sentences: tuple[str, ...]


class Spot(NamedTuple):
    """Characters `start` to `end` of a sentence of a text."""

    text: int
    sentence: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringOptions:
    most_texts: int = 20
    """A span in more texts than this says too little about which one is meant."""
    least_words: int = 8
    """Of the sentence that becomes the question."""
    least_shared: float = 14.0
    """How much the question and the text with the answer must have in common besides: nats, of rare words' rarity."""
    rare: float = 0.02
    """A word in no more than this share of the texts is rare."""
    distractors: int = 9
    """Other texts in a row, at most."""
    same_span: int = 3
    """Questions about one span, at most."""


class Recurring:
    """`seed` fixes which questions are made, and their order."""

    def __init__(self, texts: Sequence[Text], options: RecurringOptions | None = None, *, seed: int = 0) -> None:
        self._texts, self._options, self._random = texts, options or RecurringOptions(), random.Random(seed)
        self._words = [set(_words(f"{text.title} {' '.join(text.sentences)}")) for text in texts]
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in words:
                self._holding[word].append(number)
        # Two are added so that few texts have rare words, too.
        most = self._options.rare * len(texts) + 2
        self._rare = {w: log(len(texts) / len(held)) for w, held in self._holding.items() if len(held) <= most}
        self._spots = _recurring(texts, self._options.most_texts)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of a training file, at most `same_span` a span."""
        spans = sorted(self._spots)
        self._random.shuffle(spans)
        for span in spans:
            pairs = [(a, b) for a in self._spots[span] for b in self._spots[span] if a.text != b.text]
            self._random.shuffle(pairs)
            made: set[int] = set()
            for asked, told in pairs:
                if len(made) < self._options.same_span and asked.text not in made and self._tells(span, asked, told):
                    made.add(asked.text)
                    yield self._row(span, asked, told)

    def _tells(self, span: str, asked: Spot, told: Spot) -> bool:
        """Whether the one text answers the question made of the other, and isn't the same."""
        question, there = self._asked(asked), self._texts[told.text]
        here = self._texts[asked.text]
        if here.title == there.title or here.sentences[asked.sentence] in there.sentences:
            return False
        words = set(_words(question)) - set(_words(span))
        if len(words) < self._options.least_words:
            return False
        shared = words & self._words[told.text]
        return sum(self._rare.get(word, 0.0) for word in shared) >= self._options.least_shared

    def _asked(self, spot: Spot) -> str:
        """The sentence with its span hidden, after its title where it doesn't say what it is about."""
        text = self._texts[spot.text]
        sentence = text.sentences[spot.sentence]
        question = f"{sentence[: spot.start]}{HIDDEN}{sentence[spot.end :]}".strip()
        span, title = sentence[spot.start : spot.end], text.title
        told = set(_words(title)) & set(_words(question)) or set(_words(title)) & set(_words(span))
        return question if told else f"{title}: {question}"

    def _row(self, span: str, asked: Spot, told: Spot) -> dict[str, Any]:
        shown = [told.text, *self._distractors(span, asked, told)]
        self._random.shuffle(shown)
        right = self._texts[told.text]
        marked = [n for n, sentence in enumerate(right.sentences) if span in sentence]
        return {
            "id": f"recurring/{asked.text}.{asked.sentence}.{asked.start}/{told.text}",
            "question": self._asked(asked),
            "answers": [span],
            "supporting_facts": [[right.title, n] for n in marked],
            "context": [[self._texts[n].title, list(self._texts[n].sentences)] for n in shown],
        }

    def _distractors(self, span: str, asked: Spot, told: Spot) -> list[int]:
        """The texts that share the rarest words with the question, without the span, each title once."""
        score: dict[int, float] = defaultdict(float)
        for word in set(_words(self._asked(asked))):
            if word in self._rare:
                for number in self._holding[word]:
                    score[number] += self._rare[word]
        titles = {self._texts[told.text].title, self._texts[asked.text].title}
        found: list[int] = []
        wanted = self._random.randint(1, self._options.distractors)
        for number, _ in sorted(score.items(), key=lambda pair: (-pair[1], pair[0])):
            if len(found) == wanted:
                break
            text = self._texts[number]
            if text.title not in titles and not any(span.lower() in s.lower() for s in (text.title, *text.sentences)):
                titles.add(text.title)
                found.append(number)
        return found


def _recurring(texts: Sequence[Text], most: int) -> Mapping[str, list[Spot]]:
    """Names and numbers that stand in two to `most` texts, with the first place in each."""
    spots: dict[str, dict[int, Spot]] = defaultdict(dict)
    for number, text in enumerate(texts):
        for n, sentence in enumerate(text.sentences):
            for found in (*_NAME.finditer(sentence), *_NUMBER.finditer(sentence)):
                if _stands_alone(sentence, *found.span()):
                    spots[found[0]].setdefault(number, Spot(number, n, *found.span()))
    return {span: list(held.values()) for span, held in spots.items() if 2 <= len(held) <= most}


def _stands_alone(sentence: str, start: int, end: int) -> bool:
    """Whether it is a whole name: no part of a longer one, and not a word whose capital only begins the sentence."""
    before, after = sentence[:start], sentence[end:]
    if re.search(r"[\w&/'’.-]$|[A-Z][\w.'’]* $", before) or re.match(r"[\w&/'’-]| [A-Z\d]", after):
        return False
    return bool(before.strip()) or " " in sentence[start:end]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def read_texts(path: Path) -> list[Text]:
    """JSON lines with `title` and `sents` or `sentences`; .gz too. Raises TrainingDataUnusable with the row."""
    texts = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                sentences = row["sents"] if "sents" in row else row["sentences"]
                if not isinstance(sentences, list):
                    raise TypeError(f"{sentences!r:.40} is no list")
                texts.append(Text(str(row["title"]), tuple(map(str, sentences))))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"{type(error).__name__} {error}; each row needs title, and sents or sentences"
                raise TrainingDataUnusable(f"{path}, row {number}: {what}") from error
    return texts


def make(
    corpus: Annotated[Path, typer.Argument(help="Texts: JSON lines with title and sents; .gz too.", exists=True)],
    out: Annotated[Path, typer.Argument(help="The training file to write, .jsonl.gz.")],
    rows: Annotated[int, typer.Option("--rows", min=1, help="At most so many.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed")] = 0,
) -> None:
    """Make training questions from texts alone."""
    aside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        made = islice(Recurring(read_texts(corpus), seed=seed).rows(), rows)
        with gzip.open(aside, "wt", encoding="utf-8") as file:
            number = sum(1 for row in made if file.write(json.dumps(row, ensure_ascii=False) + "\n"))
        os.replace(aside, out)
    except (TrainingDataUnusable, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    finally:
        aside.unlink(missing_ok=True)
    typer.echo(f"{number} rows in {out}")


if __name__ == "__main__":
    typer.run(make)
