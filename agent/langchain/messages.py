"""LangChain messages as a question, what was said before it, and texts to read."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from ...retrieval.document import Document
from ..errors import InvalidQuestion
from ..memory.turn import Turn
from ..question import checked
from ..tools.tool import rendered

_BLANK_LINE = re.compile(r"\n\s*\n")
_LABEL = re.compile(r"^(?:question|query|q)\s*:\s*", re.IGNORECASE)
_ANSWER_LABEL = re.compile(r"\n\s*(?:helpful )?(?:answer|a)\s*:?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """`answered`: a tool has answered since the question was asked."""

    question: str
    turns: tuple[Turn, ...]
    texts: tuple[Document, ...]
    answered: bool


def asked(messages: Sequence[BaseMessage]) -> Asked:
    """The last human message asks; with blank lines in it, its last part asks and the others are to be read.

    System messages and the results of tools are read, too. Raises InvalidQuestion where nobody asks, or for an image.
    """
    places = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    if not places:
        raise InvalidQuestion("no message is a human's, so there is no question. Add a HumanMessage")
    *context, question = _parts(text_of(messages[places[-1]]))
    system = [text_of(message) for message in messages if isinstance(message, SystemMessage)]
    results = [m for m in messages[places[-1] + 1 :] if isinstance(m, ToolMessage)]
    texts = [*map(_document, range(len(results)), results)]
    texts += [_text(f"message:{n}", part) for n, part in enumerate((*context, *system)) if part.strip()]
    return Asked(checked(question), tuple(_turns(messages[: places[-1]])), tuple(texts), bool(results))


def text_of(message: BaseMessage) -> str:
    """Raises InvalidQuestion for content that is no text."""
    if isinstance(message.content, list):
        for block in message.content:
            kind = block.get("type", "text") if isinstance(block, dict) else "text"
            if kind not in ("text", "tool_use", "tool_call", "tool_result", "reasoning", "thinking"):
                raise InvalidQuestion(f"a message has content of type {kind!r}, and only text is read. Leave it out")
    return str(message.text)


def _parts(text: str) -> list[str]:
    """
    >>> _parts("Read this.\\n\\nQuestion: Who?\\nAnswer:")
    ['Read this.', 'Who?']
    """
    whole = _ANSWER_LABEL.sub("", text.strip())
    parts = [part for part in _BLANK_LINE.split(whole) if part.strip()] or [text]
    return [*parts[:-1], _LABEL.sub("", parts[-1].strip())]


def _turns(messages: Sequence[BaseMessage]) -> list[Turn]:
    turns: list[Turn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            question = _parts(text_of(message))[-1]
            turns.append(Turn(asked=question, question=question, answer=""))
        elif isinstance(message, AIMessage) and turns and text_of(message):
            turns[-1] = turns[-1].model_copy(update={"answer": text_of(message)})
    return turns


def _document(number: int, message: ToolMessage) -> Document:
    name = message.name or message.tool_call_id
    said = text_of(message)
    try:
        value = json.loads(said)
    except ValueError:
        value = said
    return _text(f"tool:{name}:{number + 1}", rendered(value), title=name.replace("_", " "))


def _text(name: str, text: str, title: str = "") -> Document:
    return Document(id=name, text=text, title=title)
