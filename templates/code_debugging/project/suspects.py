"""Which lines are to blame: those that failing tests run and passing ones don't. Knows no model.

Ochiai's coefficient: failed(line) / sqrt(all failed * (failed(line) + passed(line))), from Abreu, Zoeteweij and van Gemund,
"On the accuracy of spectrum-based fault localization", TAIC PART 2007.
"""

import ast
from math import sqrt
from typing import NamedTuple

from sandbox import Outcome


class Suspect(NamedTuple):
    """A line, from 1, with how much speaks against it, 0 to 1."""

    line: int
    text: str
    score: float


def suspects(source: str, outcome: Outcome) -> list[Suspect]:
    """The lines that failing tests ran, most suspicious first; of equals the earlier. Needs a traced outcome."""
    failed = [test.lines for test in outcome.tests if not test.passed]
    passed = [test.lines for test in outcome.tests if test.passed]
    text = source.splitlines()
    found = []
    for line in sorted(set().union(*failed)):
        bad, good = sum(line in lines for lines in failed), sum(line in lines for lines in passed)
        found.append(Suspect(line, text[line - 1].strip(), bad / sqrt(len(failed) * (bad + good))))
    found += _signatures(source, found)
    return sorted(found, key=lambda suspect: (-suspect.score, suspect.line))


def _signatures(source: str, found: list[Suspect]) -> list[Suspect]:
    """A function's own line is run once, at import, so no test tells of it: it gets the score of its worst line."""
    extra, text = [], source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.defaults):
            inside = [s.score for s in found if node.lineno < s.line <= (node.end_lineno or node.lineno)]
            known = any(s.line == node.lineno for s in found)
            if inside and not known:
                extra.append(Suspect(node.lineno, text[node.lineno - 1].strip(), max(inside)))
    return extra
