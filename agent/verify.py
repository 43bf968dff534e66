"""What must hold before an answer leaves: quotations that stand in their documents, and a draft they carry."""

from collections.abc import Callable, Iterable, Sequence

from ..retrieval.document import Document
from .answer import Citation
from .named import unheard
from .options import AgentOptions
from .weigh import Weighed


def standing(citations: Iterable[Citation], documents: Callable[[str], Document] | None) -> tuple[Citation, ...]:
    """Those whose quotation is still in its document, word for word, where the documents are at hand."""
    return tuple(citation for citation in citations if documents is None or _stands(citation, documents))


def why_abstain(best: Weighed, citations: Sequence[Citation], options: AgentOptions) -> str:
    """Why a draft is no answer; empty where it is one."""
    draft = best.draft
    if not best.answers:
        return "the model finds no answer in the passages that were found"
    reading = best.reading
    if options.known_names and (
        absent := unheard(reading.prompt.question, (f"{p.title} {p.text}" for p in reading.passages))
    ):
        return f"nothing that was read speaks of {' or '.join(absent)}"
    if draft.answerable < options.min_answerable:
        return _below("that the passages carry an answer", draft.answerable, options.min_answerable)
    if not citations:
        return "no sentence of the passages carries the draft"
    if best.weight < options.min_confidence:
        return _below("that the draft is right", best.weight, options.min_confidence)
    return ""


def _stands(citation: Citation, documents: Callable[[str], Document]) -> bool:
    try:
        text = documents(citation.document_id).text
    except KeyError:
        return False
    return text[citation.start : citation.end] == citation.quote


def _below(what: str, value: float, least: float) -> str:
    return f"the confidence {what} is {value:.2f}, and at least {least:.2f} is wanted"
