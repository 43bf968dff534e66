"""What tools gave in one run, as documents that can be read and cited. Knows no tool and no question."""

from collections.abc import Callable, Sequence

from ...retrieval.document import Document, Passage
from ...retrieval.split import split


class Results:
    """Documents by the id they are cited under; two results of one tool get two.

    >>> results = Results()
    >>> [results.add(Document(id="tool:look", text="Shipped."))[0].document_id for _ in range(2)]
    ['tool:look', 'tool:look:2']
    """

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def __bool__(self) -> bool:
        return bool(self._documents)

    def add(self, document: Document) -> Sequence[Passage]:
        """The passages to read."""
        name, number = document.id, 1
        while document.id in self._documents:
            number += 1
            document = document.model_copy(update={"id": f"{name}:{number}"})
        self._documents[document.id] = document
        return [passage for passage in split(document) if passage.text.strip()]

    def beside(self, documents: Callable[[str], Document]) -> Callable[[str], Document]:
        """Looks a document up among the results, then elsewhere."""
        return lambda document_id: self._documents.get(document_id) or documents(document_id)
