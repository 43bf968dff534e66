"""Finds the cause of a failing behaviour in a Python file; a model that writes code has three fixes tried, the best shown."""

import argparse
import sys
from pathlib import Path

import report
from causes import known_causes
from fixes import can_write, evidence_of, propose, try_all, worth_keeping
from remask.dllm import Generator, ModelError
from remask.dllm.backends import backend
from sandbox import run_tests
from suspects import suspects

CAN_NOT = (Path(__file__).parent / "prompts" / "can_not.txt").read_text(encoding="utf-8")


def debug(program: Path, tests: Path, behaviour: str, generator: Generator) -> int:
    """0: nothing fails, or a fix passes all tests; 1: no fix does; 4: the model can't write one."""
    source, checks = program.read_text(encoding="utf-8"), tests.read_text(encoding="utf-8")
    outcome = run_tests(program.stem, source, checks)
    report.show_failures(outcome)
    if outcome.all_passed:
        return 0
    found = suspects(source, run_tests(program.stem, source, checks, trace=True))
    report.show_suspects(program.name, found)
    causes = known_causes(behaviour, [suspect.text for suspect in found[:3]])
    report.show_causes(causes)
    if not can_write(generator):
        print(f"\n{CAN_NOT}")
        return 4
    evidence = evidence_of(program.name, source, checks, outcome, causes)
    proposal = propose(generator, behaviour, evidence)  # type: ignore[arg-type]
    tried = try_all(program.stem, source, checks, proposal.fixes)
    report.show_proposal(program.name, source, proposal, tried)
    if not tried[0].outcome.all_passed:
        return 1
    kept, catches = worth_keeping(program.stem, source, tried[0].fix.code, proposal.tests)
    report.show_tests(kept, catches, proposal.tests, proposal.notes)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="the Python file; its tests are test_NAME.py beside it")
    parser.add_argument("behaviour", help="what goes wrong, in a sentence")
    parser.add_argument(
        "--backend", default="embedded", help="see `remask backends`; mercury:mercury-2, openai:URL#MODEL"
    )
    given = parser.parse_args()
    try:
        beside = given.program.with_name(f"test_{given.program.name}")
        sys.exit(debug(given.program, beside, given.behaviour, backend(given.backend)))
    except (OSError, ModelError) as error:
        sys.exit(f"error: {error}")
