"""All fields of a schema from one run of a model that infills or has a JSON mode. What no sentence carries is dropped."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ...dllm.draft import Draft, Kind, Prompt
from ...dllm.structured import CompletesJson, InfillsJson, infills
from ...retrieval.document import Document, Passage
from ..cite import cite
from ..evidence import Reading
from ..support import Scorer
from ..verify import standing
from .slot import Slot, json_schema, slots
from .structured import FieldAnswer, Structured, concluded, field_question

Model = TypeVar("Model", bound=BaseModel)


def at_once(
    generator: InfillsJson | CompletesJson,
    question: str,
    schema: type[Model],
    passages: Sequence[Passage],
    *,
    scorer: Scorer,
    documents: Callable[[str], Document] | None,
    seed: int = 0,
) -> Structured[Model]:
    """Raises ModelError. A value counts where a sentence of the passages has its words and some of the field's question."""
    wanted = slots(schema)
    given = _given(generator, json_schema(wanted, nullable=True), Reading.of(question, passages).prompt, seed)
    fields: dict[str, FieldAnswer] = {}
    for slot in wanted:
        small = field_question(question, slot)
        fields[slot.name] = _field(slot, given.get(slot.name), Reading.of(small, passages), scorer, documents)
    return concluded(schema, fields)


def _given(generator: InfillsJson | CompletesJson, schema: dict[str, Any], prompt: Prompt, seed: int) -> dict[str, Any]:
    if infills(generator):
        return generator.infill_json(schema, prompt, seed=seed)
    assert not isinstance(generator, InfillsJson)
    return generator.complete_json(prompt, schema)


def _field(
    slot: Slot, value: Any, reading: Reading, scorer: Scorer, documents: Callable[[str], Document] | None
) -> FieldAnswer:
    question = reading.prompt.question
    if value is None or value == "" or value == []:
        return FieldAnswer(value=None, text="", question=question, abstained=True, reason="the model finds no value")
    text, kind = _said(value)
    citations = standing(cite(Draft(text, kind=kind), reading, scorer), documents)
    if not citations:
        why = f"no sentence of the passages carries {text!r}"
        return FieldAnswer(value=None, text=text, question=question, abstained=True, reason=why)
    support = sum(citation.support for citation in citations) / len(citations)
    return FieldAnswer(
        value=to_jsonable_python(value),
        text=text,
        question=question,
        citations=citations,
        confidence=support,
        abstained=False,
    )


def _said(value: Any) -> tuple[str, Kind]:
    if isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    if isinstance(value, list):
        return ", ".join(str(one) for one in value), "span"
    return (f"{value:g}" if isinstance(value, float) else str(value)), "span"
