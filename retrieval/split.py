"""Documents in, passages out, with exact offsets. Nothing here knows how a passage is searched or read."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from math import ceil
from typing import NamedTuple

from .blocks import Break, blocks
from .document import Document, Passage, Span
from .sentences import after_blanks, sentences_of_block


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """How large a passage may be. No limit is ever exceeded; a sentence that is longer is cut between words."""

    max_words: int = 110
    """English needs about 1.3 word pieces a word, so this and a title stay below the 256 that the default embedder
    reads. An ideograph counts as a word."""
    max_chars: int = 700
    """Holds for what has no words: tables of numbers, code, long links."""
    overlap_sentences: int = 0
    """Sentences repeated from the passage before. None by default: cuts fall between sentences, and a sentence with two
    homes takes two of the reader's places for one piece of evidence."""

    def __post_init__(self) -> None:
        if self.max_words < 1 or self.max_chars < 1 or self.overlap_sentences < 0:
            raise ValueError(f"limits must be at least 1 and the overlap at least 0, not {self!r}")


def split(document: Document, options: SplitOptions | None = None) -> list[Passage]:
    """Passages in order whose sentences hold every non-blank character; a blank document has none.

    Cuts fall between paragraphs where the sizes allow it, else between lines, else between sentences. A passage never
    crosses into the section of the next heading, and a heading stays with what follows it. Time is linear in the text.

    >>> document = Document(id="d", text="ab ab ab ab", title="Abba")
    >>> [(p.text, p.start, p.end, p.title) for p in split(document, SplitOptions(max_words=2))]
    [('ab ab', 0, 5, 'Abba'), ('ab ab', 6, 11, 'Abba')]
    """
    options = options or SplitOptions()
    pieces = list(_pieces(document.text, options))
    return [
        _passage(document, pieces[first:last])
        for section in _sections(pieces)
        for first, last in _packed(pieces, section, options)
    ]


def passage_from_sentences(document_id: str, title: str, sentences: Sequence[str]) -> Passage:
    """A passage whose text is `"".join(sentences)`, for corpora that come with their sentences, as HotpotQA does.

    `passage.sentences[i]` is always `sentences[i]` without blanks around it, so that gold sentence numbers stay valid;
    a blank sentence has an empty span.

    >>> passage_from_sentences("d", "Abba", ["Hi. ", "Yes."]).sentences
    (Span(start=0, end=3), Span(start=4, end=8))
    """
    text = "".join(sentences)
    ends = accumulate(map(len, sentences))
    spans = tuple(_trimmed(sentence, end - len(sentence)) for sentence, end in zip(sentences, ends, strict=True))
    return Passage(document_id, text, 0, len(text), title=title, sentences=spans)


_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# A run of letters without end, such as a key or a link, is many word pieces.
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]{{1,16}}")
_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))

# What a cut here is worth, in shares of a passage that it may be off the ideal size.
_WORTH = {Break.WORD: -0.3, Break.SENTENCE: 0.0, Break.LINE: 0.1, Break.PARAGRAPH: 0.3, Break.HEADING: 0.3}


class _Piece(NamedTuple):
    """A sentence, or a part of one that is too long for a passage. Words are counted from the start of the document."""

    start: int
    end: int
    before: Break
    words_before: int
    words_after: int


def _passage(document: Document, pieces: Sequence[_Piece]) -> Passage:
    start, end = pieces[0].start, pieces[-1].end
    spans = tuple(Span(piece.start, piece.end) for piece in pieces)
    text = document.text[start:end]
    return Passage(document.id, text, start, end, title=document.title, metadata=document.metadata, sentences=spans)


def _trimmed(sentence: str, offset: int) -> Span:
    content = sentence.strip()
    start = offset + len(sentence) - len(sentence.lstrip()) if content else offset
    return Span(start, start + len(content))


def _pieces(text: str, options: SplitOptions) -> Iterator[_Piece]:
    words = 0
    for block in blocks(text):
        before = block.before
        for sentence in sentences_of_block(text, block):
            for span in _cut_to_fit(text, sentence, options):
                words_after = words + len(_WORD.findall(text, span.start, span.end))
                yield _Piece(span.start, span.end, before, words, words_after)
                words, before = words_after, Break.WORD
            before = Break.SENTENCE


def _cut_to_fit(text: str, sentence: Span, options: SplitOptions) -> Iterator[Span]:
    start = sentence.start
    while start < sentence.end:
        end = min(sentence.end, start + options.max_chars)
        too_many = next(islice(_WORD.finditer(text, start, end), options.max_words, None), None)
        end = too_many.start() if too_many else end
        if end < sentence.end:
            end = _before_word(text, start, end)
        yield _trimmed(text[start:end], start)
        start = after_blanks(text, end, sentence.end)


def _before_word(text: str, start: int, end: int) -> int:
    """The last place to cut at or before `end`: between words, else between characters as a reader sees them."""
    if text[end - 1].isspace() or text[end].isspace():
        return end
    head = text[start:end].rsplit(None, 1)[0]
    if len(head) < end - start:
        return start + len(head)
    return next((at for at in range(end, start + (end - start) // 2, -1) if _between_characters(text, start, at)), end)


def _between_characters(text: str, start: int, at: int) -> bool:
    """False inside an accented letter, a joined or coloured emoji, a flag, or a surrogate pair."""
    left, right = text[at - 1], text[at]
    joined = (
        "\u200d" in (left, right)
        or unicodedata.category(right).startswith("M")
        or "\U0001f3fb" <= right <= "\U0001f3ff"
    )
    pair = "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff"
    return not (joined or pair or _inside_flag(text[start:at], right))


def _inside_flag(before: str, right: str) -> bool:
    """A flag is two regional indicators, so what counts is whether an odd number of them stands before."""
    indicators = len(before) - len(before.rstrip(_INDICATORS))
    return right in _INDICATORS and indicators % 2 == 1


def _sections(pieces: Sequence[_Piece]) -> Iterator[range]:
    """From a heading to the next; headings with nothing between them open one section."""
    first = 0
    for at in range(1, len(pieces)):
        if pieces[at].before is Break.HEADING and pieces[at - 1].before is not Break.HEADING:
            yield range(first, at)
            first = at
    if pieces:
        yield range(first, len(pieces))


def _packed(pieces: Sequence[_Piece], section: range, options: SplitOptions) -> Iterator[tuple[int, int]]:
    """Ranges of pieces, of about equal size rather than full ones with a scrap at the end."""
    first, fresh = section.start, section.start
    while fresh < section.stop:
        most = fresh + 1
        while most < section.stop and _size(pieces, first, most + 1, options) <= 1:
            most += 1
        last = (
            most
            if most == section.stop
            else _best_cut(pieces, first, range(fresh + 1, most + 1), section.stop, options)
        )
        yield first, last
        fresh = last
        starts = range(max(first + 1, last - options.overlap_sentences), last)
        fits = (start for start in starts if fresh < section.stop and _size(pieces, start, fresh + 1, options) <= 1)
        first = next(fits, fresh)


def _best_cut(pieces: Sequence[_Piece], first: int, cuts: range, stop: int, options: SplitOptions) -> int:
    size = _size(pieces, first, stop, options)
    ideal = size / ceil(size)

    def worth(cut: int) -> float:
        after_heading = pieces[cut - 1].before is Break.HEADING
        return _WORTH[pieces[cut].before] - abs(_size(pieces, first, cut, options) - ideal) - after_heading

    return max(reversed(cuts), key=worth)


def _size(pieces: Sequence[_Piece], first: int, last: int, options: SplitOptions) -> float:
    """In passages: 1 is as large as the options allow."""
    words = pieces[last - 1].words_after - pieces[first].words_before
    chars = pieces[last - 1].end - pieces[first].start
    return max(words / options.max_words, chars / options.max_chars)
