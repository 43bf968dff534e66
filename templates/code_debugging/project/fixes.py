"""Three alternative fixes from a model that can write code, tried in the sandbox, the best one chosen.

A model is asked once, for all three: a diffusion model writes them side by side. What it says is checked by running it.
"""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from causes import Cause
from pydantic import BaseModel, Field, ValidationError
from remask.dllm import Evidence, GenerationFailed, Prompt
from remask.dllm.structured import CompletesJson, InfillsJson, completes, infills
from sandbox import Outcome, run_tests

ASK = Path(__file__).parent / "prompts" / "fix.txt"


class Fix(BaseModel):
    """One way to mend the program."""

    idea: str = Field(description="What is changed, in one sentence.")
    code: str = Field(description="The whole program after the change.")


class Proposal(BaseModel):
    """What the model says."""

    cause: str = Field(description="The root cause, in one or two sentences.")
    line: int = Field(description="The number of the line that causes it.")
    fixes: Annotated[list[Fix], Field(min_length=3, max_length=3, description="Three different ways to mend it.")]
    tests: str = Field(description="Further tests as functions named test_..., with their imports.")
    notes: list[str] = Field(description="Edge cases to keep in mind.")


class Tried(NamedTuple):
    """A fix after its tests."""

    fix: Fix
    outcome: Outcome
    changed: int
    """Lines taken away or added."""


def can_write(generator: object) -> bool:
    """Whether a model can be asked for code at all. The embedded reader only quotes."""
    return completes(generator) or infills(generator)


def evidence_of(name: str, source: str, tests: str, outcome: Outcome, known: Sequence[Cause]) -> list[Evidence]:
    """What the model reads: the program with numbered lines, its tests, how they fail, and the cause that is known."""
    numbered = "\n".join(f"{number:3} {line}" for number, line in enumerate(source.splitlines(), 1))
    failing = "\n".join(f"{test.name}: {test.message}" for test in outcome.tests if not test.passed)
    shown = [(numbered, name), (tests, f"test_{name}"), (failing, "failures")]
    return [Evidence(*each) for each in (*shown, *((cause.quote, cause.title) for cause in known))]


def propose(generator: CompletesJson | InfillsJson, behaviour: str, evidence: Sequence[Evidence]) -> Proposal:
    """Raises ModelError where the model gives nothing that can be used."""
    prompt = Prompt(ASK.read_text(encoding="utf-8").format(behaviour=behaviour), tuple(evidence))
    schema = Proposal.model_json_schema()
    schema = {**schema, "properties": {**schema["properties"], "fixes": _inline(schema)}}
    schema.pop("$defs")
    said = generator.complete_json(prompt, schema) if completes(generator) else generator.infill_json(schema, prompt)  # type: ignore[union-attr]
    try:
        return Proposal.model_validate(said)
    except ValidationError as error:
        raise GenerationFailed(f"the model's proposal can't be used: {error.errors()[0]['msg']}. Ask again.") from error


def _inline(schema: dict) -> dict:
    """The list of fixes without a reference to a definition elsewhere, which not every server follows."""
    return {**schema["properties"]["fixes"], "items": schema["$defs"]["Fix"]}


def try_all(program: str, source: str, tests: str, fixes: Sequence[Fix]) -> list[Tried]:
    """Every fix with its tests' outcome, best first: most tests passed, then fewest lines changed."""
    tried = [Tried(fix, run_tests(program, fix.code, tests), changed(source, fix.code)) for fix in fixes]
    return sorted(tried, key=lambda t: (not t.outcome.all_passed, -t.outcome.passed, t.changed))


def changed(before: str, after: str) -> int:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in lines)


def diff(name: str, before: str, after: str) -> str:
    """A unified diff that `patch -p1` takes."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)


def worth_keeping(program: str, before: str, after: str, tests: str) -> tuple[Outcome, bool]:
    """The further tests' outcome on the mended program, and whether the broken one fails any of them."""
    return run_tests(program, after, tests), not run_tests(program, before, tests).all_passed
