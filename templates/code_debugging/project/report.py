"""What was found out, printed for a person. Knows no model."""

from causes import Cause
from fixes import Proposal, Tried, diff
from sandbox import Outcome
from suspects import Suspect


def show_failures(outcome: Outcome) -> None:
    print(f"{outcome.passed} of {len(outcome.tests)} tests pass" + (f": {outcome.error}" if outcome.error else ""))
    for test in outcome.tests:
        if not test.passed:
            print(f"  fails: {test.name}: {test.message}")


def show_suspects(name: str, found: list[Suspect], *, most: int = 5) -> None:
    print("\nLines that failing tests run and passing ones run less:")
    for suspect in found[:most]:
        print(f"  {name}:{suspect.line}  {suspect.score:.2f}  {suspect.text}")


def show_causes(causes: list[Cause]) -> None:
    print("\nKnown causes that fit, best first:")
    for cause in causes:
        print(f"  {cause.score:.2f}  {cause.title}: {' '.join(cause.quote.split())}")
        print(f"        {cause.document_id}, characters {cause.start} to {cause.end}")


def show_proposal(name: str, source: str, proposal: Proposal, tried: list[Tried]) -> None:
    lines = source.splitlines()
    shown = lines[proposal.line - 1].strip() if 1 <= proposal.line <= len(lines) else "no such line"
    print(f"\nThe model's diagnosis: {proposal.cause}\n  {name}:{proposal.line}  {shown}\n\nFixes tried:")
    for one in tried:
        ended = one.outcome.error or f"{one.outcome.passed} of {len(one.outcome.tests)} tests pass"
        print(f"  {ended}, {one.changed} lines changed: {one.fix.idea}")
    best = tried[0]
    if not best.outcome.all_passed:
        print("\nNone of the fixes passes all tests, so none is recommended.")
        return
    print(f"\n{diff(name, source, best.fix.code)}")


def show_tests(outcome: Outcome, catches: bool, tests: str, notes: list[str]) -> None:
    if outcome.all_passed:
        print(
            f"Further tests, which the mended program passes{' and the broken one does not' if catches else ''}:\n\n{tests}"
        )
    else:
        print("The model's further tests don't hold for the mended program and are left out.")
    for note in notes:
        print(f"  note: {note}")
