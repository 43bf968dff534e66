"""One question of a conversation with its answer, as it is remembered."""

from ..answer import Answer, Record


class Turn(Record):
    """`asked` is what was typed; `question` is what was asked of the documents, in full."""

    asked: str
    question: str
    answer: str
    """Empty where the agent abstained."""
    titles: tuple[str, ...] = ()
    """The titles of the cited documents, each once."""
    at: float = 0.0
    """When it was answered, in seconds since 1970."""

    @classmethod
    def of(cls, asked: str, answer: Answer, *, at: float, longest: int) -> "Turn":
        """Texts of more than `longest` characters are cut: a memory is bounded, whatever is pasted into a question."""
        said = "" if answer.abstained else answer.text
        titles = tuple(dict.fromkeys(citation.title[:longest] for citation in answer.citations if citation.title))
        question = answer.trace.question
        return cls(asked=asked[:longest], question=question[:longest], answer=said[:longest], titles=titles, at=at)
