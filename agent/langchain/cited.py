"""Citations as LangChain's content blocks. Theirs index the answer's text; where the source stands goes into `extras`."""

from collections.abc import Iterable
from typing import Any

from ..answer import Citation


def text_block(text: str, citations: Iterable[Citation]) -> dict[str, Any]:
    """A text block with an annotation for each citation. All ends are exclusive."""
    annotations = [annotation(citation) for citation in citations]
    return {"type": "text", "text": text, "annotations": annotations} if annotations else {"type": "text", "text": text}


def annotation(citation: Citation) -> dict[str, Any]:
    return {
        "type": "citation",
        "title": citation.title,
        "start_index": citation.answer_start,
        "end_index": citation.answer_end,
        "cited_text": citation.quote,
        "extras": {
            "document_id": citation.document_id,
            "passage_id": citation.passage_id,
            "source_start": citation.start,
            "source_end": citation.end,
            "support": citation.support,
        },
    }
