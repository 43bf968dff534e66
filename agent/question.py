"""A question as it will be asked: text that says something and that every encoder takes."""

from .errors import InvalidQuestion


def checked(question: str) -> str:
    """Raises InvalidQuestion.

    >>> checked(" Who? ")
    'Who?'
    """
    if not isinstance(question, str):
        raise InvalidQuestion(f"the question is {question!r}, which is no text. Pass a string")
    # Half a surrogate pair, as a shell can hand over, would break every encoder behind.
    whole = question.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    if not whole:
        raise InvalidQuestion(f"the question is {question!r}, which says nothing. Ask in words, as in 'Who wrote it?'")
    return whole
