"""Answers in a schema: each value with its type and its citations, or none."""

import asyncio
from datetime import date
from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator
from remask.agent import Agent, InvalidQuestion, SchemaUnusable
from remask.dllm.draft import Draft, Prompt
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import Document

from ..shelf import Shelf

BUOY = Document(
    id="b7",
    title="B-7 buoy",
    text="The B-7 was designed by Henrik Dahl. The B-7 went on sale on 3 March 2018. It measures waves of up to 20 metres."
    " The B-7 is moored or drifts. The hull of the B-7 is yellow. The kit has a cable, a probe and a box.",
)


class Colour(Enum):
    RED = "red"
    YELLOW = "yellow"


class Buoy(BaseModel):
    designer: str
    on_sale: date = Field(description="When did it go on sale?")
    height: int = Field(description="wave height in metres")
    colour: Colour
    kind: Literal["buoy", "gauge"] | None = None
    moored: bool | None = None
    kit: list[str] = []
    price: float | None = None


SAID = {
    "What is the designer of the B-7?": "Henrik Dahl",
    "When did the B-7 go on sale?": "3 March 2018",
    "What is the wave height in metres of the B-7?": "up to 20 metres",
    "What is the colour of the B-7?": "The hull of the B-7 is yellow",
    "What is the kit of the B-7?": "cable, a probe and a box",
}


def says(prompt: Prompt) -> Draft:
    if prompt.question == "Is the B-7 moored?":
        return Draft("yes", kind="yes", confidence=0.9)
    said = SAID.get(prompt.question)
    return pointing(prompt, said) if said else Draft("", kind="none")


def over(model: Any) -> Agent:
    shelf = Shelf([BUOY])
    return Agent(shelf, model, documents=shelf.document)


def test_each_field_is_asked_for_typed_and_cited() -> None:
    structured = over(ScriptedGenerator(says)).ask("Describe the B-7.", schema=Buoy)
    assert structured.value == Buoy(
        designer="Henrik Dahl",
        on_sale=date(2018, 3, 3),
        height=20,
        colour=Colour.YELLOW,
        moored=True,
        kit=["cable", "a probe", "a box"],
    )
    for name in ("designer", "on_sale", "height", "colour", "moored", "kit"):
        assert structured.fields[name].citations, name
    assert all(BUOY.text[c.start : c.end] == c.quote for c in structured.citations)
    price = structured.fields["price"]
    assert (price.value, price.abstained, price.citations) == (None, True, ())
    assert price.reason


def test_a_required_field_without_evidence_leaves_no_value_but_what_was_found() -> None:
    class Priced(BaseModel):
        designer: str
        price: float

    structured = over(ScriptedGenerator(says)).ask("Describe the B-7.", schema=Priced)
    assert structured.value is None
    assert structured.reason.startswith("price: ")
    assert structured.fields["designer"].value == "Henrik Dahl"


def test_words_of_another_type_are_no_value() -> None:
    class Wrong(BaseModel):
        designer: int | None = None

    structured = over(ScriptedGenerator(says)).ask("Describe the B-7.", schema=Wrong)
    assert structured.value == Wrong(designer=None)
    assert structured.fields["designer"].reason == "'Henrik Dahl' is no integer"


def test_a_value_that_the_schema_refuses_is_dropped_with_its_message() -> None:
    class Strict(BaseModel):
        designer: str | None = None
        height: int = Field(default=0, description="wave height in metres", le=10)

        @field_validator("designer")
        @classmethod
        def short(cls, value: str | None) -> str | None:
            assert value is None or len(value) < 5, "too long"
            return value

    structured = over(ScriptedGenerator(says)).ask("Describe the B-7.", schema=Strict)
    assert structured.value == Strict()
    assert "too long" in structured.fields["designer"].reason
    assert "less than or equal to 10" in structured.fields["height"].reason


class AtOnce(ScriptedGenerator):
    """A model that infills, or has a JSON mode, and says what it is told to."""

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__()
        self.said = said

    def complete_json(self, prompt: Prompt, schema: Any) -> dict[str, Any]:
        self.prompt, self.schema = prompt, schema
        return self.said


class Infills(AtOnce):
    def infill_json(self, schema: Any, prompt: Prompt, *, max_passes: int = 16, seed: int = 0) -> dict[str, Any]:
        self.infilled = True
        return self.complete_json(prompt, schema)


@pytest.mark.parametrize("kind", [AtOnce, Infills])
def test_a_model_with_a_json_mode_gives_all_at_once_and_only_what_is_carried_is_kept(kind: type[AtOnce]) -> None:
    said = {"designer": "Henrik Dahl", "on_sale": "2018-03-03", "height": 20, "colour": "yellow", "price": 777.0}
    model = kind(said)
    structured = over(model).ask("Describe the B-7.", schema=Buoy)
    assert model.prompt.evidence
    assert getattr(model, "infilled", False) == (kind is Infills)
    assert model.schema["properties"]["colour"] == {"anyOf": [{"enum": ["red", "yellow"]}, {"type": "null"}]}
    assert structured.fields["designer"].citations[0].quote == "The B-7 was designed by Henrik Dahl."
    assert structured.fields["height"].value == 20
    assert structured.fields["price"].reason == "no sentence of the passages carries '777'"
    assert structured.fields["moored"].reason == "the model finds no value"


def test_asking_in_a_schema_works_from_async_code() -> None:
    structured = asyncio.run(over(ScriptedGenerator(says)).aask("Describe the B-7.", schema=Buoy))
    assert structured.value is not None


def test_a_schema_that_cannot_be_filled_and_an_empty_question_are_refused_before_anything_runs() -> None:
    class Nested(BaseModel):
        parts: dict[str, int]

    model = ScriptedGenerator(says)
    with pytest.raises(SchemaUnusable, match=r"Nested\.parts"):
        over(model).ask("Describe the B-7.", schema=Nested)
    with pytest.raises(InvalidQuestion):
        over(model).ask(" ", schema=Buoy)
    assert model.calls == []
