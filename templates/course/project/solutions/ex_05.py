"""Exercise 5: don't trust a citation, check it."""


def citation_holds(documents: dict[str, str], document_id: str, start: int, end: int, quote: str) -> bool:
    """Whether the document is there, and its characters `start` to `end` are the quote, and the quote is not empty."""
    text = documents.get(document_id)
    return text is not None and 0 <= start < end <= len(text) and text[start:end] == quote
