"""A task file: questions on a user's own documents and what a good agent does with each. Reads it; asks nothing.

TOML. One `[task]`, perhaps `[bars]`, and a `[[question]]` for each question:

    [task]
    name = "returns desk"                     # what the report is called
    about = "Questions as customers ask them."  # optional

    [bars]                                    # optional: what a run must reach, or the command's exit code is 1
    resolved = 0.6                            # at least; of `wrong`, at most. Names: see `BARS`

    [[question]]
    id = "window"                             # each its own
    text = "How long may I return a lamp?"
    facts = ["30 days", ["unused", "not used"]]  # all must be said; of an inner list, any one
    never = ["60 days"]                       # optional: none may be said (an outdated rule, an invention)
    cite = ["returns.md"]                     # optional: all must be cited; of an inner list, any one
    tags = ["returns"]                        # optional: results are told by the first tag, too

    [[question]]
    id = "ceo-salary"
    text = "What does the director earn?"
    expect = "abstain"                        # "answer" (the default), "abstain", "hand over", or a list: any of them
    tags = ["unanswerable"]

A fact is said where its words follow each other in the answer: case, punctuation and separators of thousands don't count,
so "1,000 days" is said by "within 1000 Days." A document is named by its id (for files: the path under the folder that was
given), its title, or the end of its path. A question that may be answered has `facts`, which are empty only where any
answer with the right citation will do. To hand over is to pass the question on to a person; `remask.agent.Agent` does so
by abstaining.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from .errors import DataUnusable
from .records import read_text

Outcome = Literal["answer", "abstain", "hand over"]
"""What an agent does with a question."""
BARS = ("resolved", "handled", "answer_precision", "abstain_precision", "abstain_recall", "wrong")
"""What a bar may be set on: shares in 0..1, explained in the report."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _saying(text: str) -> str:
    if not text.strip():
        raise ValueError("a text that says nothing")
    return text


Said = Annotated[str, AfterValidator(_saying)]
AnyOf = Annotated[tuple[Said, ...], BeforeValidator(_listed), Field(min_length=1)]
"""One text, or several of which one is enough."""


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(Record):
    """One question and what is wanted of whoever answers it."""

    id: Said
    text: Said
    expect: Annotated[tuple[Outcome, ...], BeforeValidator(_listed), Field(min_length=1)] = ("answer",)
    facts: tuple[AnyOf, ...] = ()
    never: tuple[Said, ...] = ()
    cite: tuple[AnyOf, ...] = ()
    tags: tuple[Said, ...] = ()

    @property
    def answerable(self) -> bool:
        return "answer" in self.expect

    @model_validator(mode="after")
    def _to_the_point(self) -> "Case":
        if self.answerable and not (self.facts or self.cite):
            raise ValueError("a question that may be answered needs 'facts', or at least 'cite'")
        if not self.answerable and (self.facts or self.cite):
            raise ValueError(f"'facts' and 'cite' are of answers, and none is expected: 'expect' is {self.expect!r}")
        return self


class Heading(Record):
    name: Said
    about: str = ""


class Task(Record):
    """A whole file. `bars` are shares by their name in `BARS`."""

    task: Heading
    bars: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    question: tuple[Case, ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        return self.task.name

    @model_validator(mode="after")
    def _well_named(self) -> "Task":
        unknown = [name for name in self.bars if name not in BARS]
        if unknown:
            raise ValueError(f"'bars' has {unknown[0]!r}; there are {', '.join(BARS)}")
        ids = [case.id for case in self.question]
        twice = next((one for number, one in enumerate(ids) if one in ids[:number]), None)
        if twice is not None:
            raise ValueError(f"the id {twice!r} is given twice")
        return self


def read_task(path: Path) -> Task:
    """Raises DataUnusable, which names the question and the key."""
    try:
        given = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataUnusable(f"{path}: not valid TOML ({error})") from error
    try:
        return Task.model_validate(given)
    except ValidationError as error:
        raise DataUnusable(f"{path}: {'; '.join(_complaints(error, given))}") from error


def _complaints(error: ValidationError, given: Mapping[str, object]) -> Iterator[str]:
    for wrong in error.errors():
        place = [str(part) for part in wrong["loc"]]
        if place[:1] == ["question"] and len(place) > 1:
            place[:2] = [f"question {_called(given, int(place[1]))}"]
        yield f"{', '.join(place) or 'the file'}: {wrong['msg'].removeprefix('Value error, ')}"


def _called(given: Mapping[str, object], number: int) -> str:
    """A question by its id, or by its place in the file, from 1."""
    questions = given.get("question")
    one = questions[number] if isinstance(questions, list) else None
    identity = one.get("id") if isinstance(one, dict) else None
    return repr(identity) if isinstance(identity, str) else str(number + 1)
