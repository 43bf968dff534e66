"""An answer in a schema: a value of its own type for each field, each with its citations, or none for want of evidence.

Knows slots and answers. A model without a JSON mode is asked one small question a field; one with such a mode, or one that
infills, gives all values at once, and only those that the evidence carries are kept.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field, JsonValue, ValidationError
from pydantic_core import to_json, to_jsonable_python

from ..answer import Answer, Citation, Record
from ..memory.followup import pronoun, substituted
from ..memory.mentions import mentions
from .slot import Slot, slots
from .tool import told
from .values import Found, found, read

Model = TypeVar("Model", bound=BaseModel)
Matcher = Callable[[str, str], float]
LEAST_MATCH, LEAST_LEAD = 0.3, 0.05
"""Of a choice that the evidence does not name: how near it must be, and by how much nearer than the next."""


class FieldAnswer(Record):
    """One field of a schema."""

    value: JsonValue = Field(description="The value as JSON has it; null where the documents carry none.")
    text: str = Field(description="The words the value was read from.")
    question: str = Field(description="What was asked for it.")
    citations: tuple[Citation, ...] = ()
    confidence: float = Field(default=0.0, ge=0, le=1)
    abstained: bool
    reason: str = Field(default="", description="Why there is no value; empty otherwise.")


@dataclass(frozen=True, slots=True)
class Structured(Generic[Model]):
    """`value` is validated; None where a required field has no evidence, as `reason` says. What was found is in `fields`."""

    value: Model | None
    fields: Mapping[str, FieldAnswer]
    reason: str = ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Of all fields, in their order."""
        return tuple(citation for field in self.fields.values() for citation in field.citations)


def by_questions(ask: Callable[[str], Answer], question: str, schema: type[Model], match: Matcher) -> Structured[Model]:
    """One small question a field, through the whole of the agent."""
    asked = [(slot, field_question(question, slot)) for slot in slots(schema)]
    return concluded(schema, {slot.name: read_field(slot, small, ask(small), match) for slot, small in asked})


def field_question(question: str, slot: Slot) -> str:
    """What is asked for one field: its description, with what the whole question is about in place of "it".

    >>> field_question("Describe the B-7.", Slot("designer", "", "text", True))
    'What is the designer of the B-7?'
    >>> field_question("Describe the B-7.", Slot("sale", "When did it go on sale?", "date", True))
    'When did the B-7 go on sale?'
    >>> field_question("Describe the B-7.", Slot("moored", "", "boolean", True))
    'Is the B-7 moored?'
    """
    phrase, subject = slot.phrase, _subject(question)
    leaning = pronoun(phrase)
    if subject and leaning:
        phrase = substituted(phrase, leaning, subject)
    if phrase.endswith("?"):
        return phrase
    if not subject:
        return f"{question.rstrip('?.! ')}: what is the {_bare(phrase)}?"
    if slot.kind == "boolean":
        return f"Is {subject} {phrase}?"
    named = leaning or subject.casefold() in phrase.casefold()
    return f"What is the {_bare(phrase)}{'' if named else f' of {subject}'}?"


def read_field(slot: Slot, question: str, answer: Answer, match: Matcher) -> FieldAnswer:
    """The answer as a value of the slot's type: from its own words, else from the one such value in what it cites."""
    if answer.abstained:
        return _nothing(question, answer.reason, answer.text)
    value = _value(slot, answer, match)
    if value is None:
        wanted = slot.pattern or (", ".join(said for said, _ in slot.choices)) or slot.kind
        return _nothing(question, f"{answer.text!r} is no {wanted}", answer.text)
    return FieldAnswer(
        value=to_jsonable_python(value.value),
        text=answer.text,
        question=question,
        citations=answer.citations,
        confidence=answer.confidence,
        abstained=False,
    )


def concluded(schema: type[Model], fields: Mapping[str, FieldAnswer]) -> Structured[Model]:
    """Validated by the schema. A value it does not hold for counts as not found."""
    known = dict(fields)
    try:
        return Structured(schema.model_validate_json(_json(known)), known)
    except ValidationError as error:
        refused = {str(e["loc"][0]): e["msg"] for e in error.errors(include_url=False) if e["loc"]}
        reason = told(error)
    for name, message in refused.items():
        if name in known and not known[name].abstained:
            known[name] = _nothing(known[name].question, f"{known[name].value!r}: {message}", known[name].text)
    try:
        return Structured(schema.model_validate_json(_json(known)), known)
    except ValidationError as error:
        missing = [name for name, field in known.items() if field.abstained and schema.model_fields[name].is_required()]
        why = "; ".join(f"{name}: {known[name].reason}" for name in missing) or told(error) or reason
        return Structured(None, known, why)


def _json(fields: Mapping[str, FieldAnswer]) -> bytes:
    """Fields without evidence are left out, so that the schema's own defaults hold, or null where it has none."""
    return to_json({name: field.value for name, field in fields.items() if not field.abstained})


def _value(slot: Slot, answer: Answer, match: Matcher) -> Found | None:
    quotes = [citation.quote for citation in answer.citations]
    if slot.kind == "boolean" and answer.kind in ("yes", "no"):
        return Found(answer.kind == "yes", 0, len(answer.text))
    if slot.many:
        return _many(slot, answer, quotes)
    own = read(slot, answer.text)
    if own is None and slot.kind != "boolean":
        values = [value for quote in dict.fromkeys(quotes) for value in _beside(slot, answer.text, quote)]
        own = values[0] if values and all(v.value == values[0].value for v in values) else None
    if own is None and slot.choices:
        own = _scored(slot, f"{answer.text} {' '.join(quotes)}", match)
    return own


def _beside(slot: Slot, said: str, quote: str) -> list[Found]:
    """Values in a quotation that touch the words of the answer ("20" of "20 metres"); a choice may stand anywhere in it."""
    start = quote.find(said)
    if slot.choices or start < 0:
        return found(slot, quote) if slot.choices else []
    return [value for value in found(slot, quote) if value.start <= start + len(said) + 1 and start <= value.end + 1]


def _many(slot: Slot, answer: Answer, quotes: Sequence[str]) -> Found | None:
    if slot.kind == "text" and not slot.pattern:
        listed: list[Any] = _listed(answer.text)
    else:
        listed = [value.value for text in (answer.text, *quotes) for value in found(slot, text)]
    unique = list(dict.fromkeys(listed))
    return Found(unique, 0, len(answer.text)) if unique else None


def _listed(text: str) -> list[Any]:
    """
    >>> _listed("cable, probe and shore box")
    ['cable', 'probe', 'shore box']
    """
    return [part.strip() for part in re.split(r"\s*(?:[,;]\s*(?:and|or)?|\band\b|\bor\b)\s*", text) if part.strip()]


def _scored(slot: Slot, text: str, match: Matcher) -> Found | None:
    """The choice nearest to what was found, where one is clearly nearest."""
    best: dict[Any, float] = {}
    for said, value in slot.choices:
        best[value] = max(best.get(value, 0.0), match(text, f"{slot.phrase}: {said}"))
    ranked = sorted(best.items(), key=lambda pair: -pair[1])
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    clear = ranked[0][1] >= LEAST_MATCH and ranked[0][1] - second >= LEAST_LEAD
    return Found(ranked[0][0], 0, 0) if clear else None


def _nothing(question: str, reason: str, text: str = "") -> FieldAnswer:
    return FieldAnswer(value=None, text=text, question=question, abstained=True, reason=reason)


def _subject(question: str) -> str:
    """What a question is about: its last name, else its first noun phrase."""
    known = mentions(question)
    names = [m.text for m in known if m.name]
    phrases = [m.text for m in known if not m.name and not m.number]
    return names[-1] if names else (phrases[0] if phrases else "")


def _bare(phrase: str) -> str:
    first, _, rest = phrase.partition(" ")
    return rest if first.casefold() in ("the", "a", "an") and rest else phrase[:1].lower() + phrase[1:]
