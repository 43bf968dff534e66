"""Lesson 9: structured answers and tools, by infilling.

A left-to-right model that must write JSON may forget a bracket. A model that fills in blanks can't: the skeleton is
given and only the values are masked. So a form is always well-formed, and each value keeps the citation it was read
from. The same goes for a tool call: the function's typed signature is the skeleton, and the call is made only when
every argument is found.

    python lesson_09.py

Exercise: `exercises/ex_09.py`, fill a skeleton so that it is always valid JSON. Check it: pytest tests/test_ex_09.py
"""

from typing import Annotated

from course import index, reader
from pydantic import BaseModel, Field
from remask.agent import Agent


class Museum(BaseModel):
    """What we want to know of the radio museum. Descriptions are the questions."""

    founder: str = Field(description="Who started the radio museum?")
    receivers: int = Field(description="How many receivers does the radio museum show?")
    telephone: str | None = Field(default=None, description="What is the telephone number of the radio museum?")


SAILINGS = {"VH-1021": "booked, two seats on the 6:40", "VH-1022": "cancelled by the passenger"}


def look_up_booking(number: Annotated[str, Field(pattern=r"VH-\d{4}", description="the booking's number")]) -> str:
    """Look up a booking for the ferry: whether it stands, and for which sailing."""
    return f"Booking {number} is {SAILINGS.get(number, 'unknown')}."


def main() -> None:
    agent = Agent(index(), reader(), documents=index().document, tools=[look_up_booking], embedder=None)
    form = agent.ask("Tell me about the radio museum.", schema=Museum)
    print(form.value if form.value is not None else form.reason)
    for name, field in form.fields.items():
        quote = field.citations[0].quote if field.citations else field.reason
        print(f"  {name}: {field.value!r}   <- {quote}")
    answer = agent.ask("How many seats does booking VH-1021 have?")
    for call in answer.trace.calls:
        print(f"\ncalled {call.name}({call.arguments}) because {call.because}\n  it says: {call.result}")
    print(answer.text, [citation.document_id for citation in answer.citations])


if __name__ == "__main__":
    main()
