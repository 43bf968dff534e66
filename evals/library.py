"""Where an agent looks: the paragraphs that a question came with, in their order, or an index of many."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..agent.answer import Citation
from ..retrieval import Document, Hit, Index, Passage, Retriever, Scalar, Span, passage_from_sentences
from .question import Fact, Question


@dataclass(frozen=True, slots=True)
class Library:
    """`sentences` gives the sentence spans of a document by its id, so that a quotation gets its sentence's number;
    `ranked` tells whether the order of what is found says anything about it."""

    retriever: Retriever
    document: Callable[[str], Document]
    sentences: Callable[[str], Sequence[Span]]
    ranked: bool

    def facts(self, citations: Iterable[Citation]) -> tuple[Fact, ...]:
        """The sentences that are quoted, as HotpotQA numbers them, each once, in the order of the citations."""
        return tuple(dict.fromkeys(fact for citation in citations for fact in self._quoted(citation)))

    def _quoted(self, citation: Citation) -> Iterator[Fact]:
        for number, span in enumerate(self.sentences(citation.document_id)):
            # A blank sentence has an empty span, and is never quoted.
            if max(span.start, citation.start) < min(span.end, citation.end):
                yield citation.title, number


class Given:
    """A `Retriever` over a fixed list: every search finds the same passages in the same order."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def search(self, query: str, k: int, *, where: Mapping[str, Scalar] | None = None) -> list[Hit]:
        return [Hit(passage, 1.0 / rank) for rank, passage in enumerate(self._passages[:k], 1)]


def given(question: Question, *, only_gold: bool = False) -> Library:
    """The question's own paragraphs, or only those with a marked sentence. Blank ones are left out."""
    paragraphs = [p for p in question.paragraphs if not only_gold or p.title in question.gold_titles]
    passages = {
        f"{question.id}/{number}": passage_from_sentences(f"{question.id}/{number}", p.title, p.sentences)
        for number, p in enumerate(paragraphs)
        if "".join(p.sentences).strip()
    }
    documents = {key: Document(id=key, title=p.title, text=p.text) for key, p in passages.items()}
    return Library(
        Given(list(passages.values())), documents.__getitem__, lambda key: passages[key].sentences, ranked=False
    )


def indexed(index: Index) -> Library:
    """Sentences are numbered through all passages of a document; overlapping ones count once."""
    spans: dict[str, dict[Span, None]] = {}
    for passage in index.passages:
        spans.setdefault(passage.document_id, {}).update(dict.fromkeys(passage.sentences))
    ordered = {key: tuple(sorted(found, key=lambda s: (s.start, s.end))) for key, found in spans.items()}
    return Library(index, index.document, lambda key: ordered.get(key, ()), ranked=True)
