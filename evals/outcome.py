"""What an agent did with a question of a task, against what was wanted. Pure functions; asks nothing."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .task import Case, Outcome

_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")


@dataclass(frozen=True, slots=True)
class Handling:
    """What came back. `cited` holds a document's id and title for each citation; `hands_over` tells whether the agent
    has a way of its own to hand over."""

    text: str
    cited: tuple[tuple[str, str], ...]
    abstained: bool
    handed_over: bool = False
    hands_over: bool = False

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What this counts as. Who can't hand over does so by abstaining."""
        if self.handed_over:
            return ("hand over",)
        if self.abstained:
            return ("abstain",) if self.hands_over else ("abstain", "hand over")
        return ("answer",)


def scores(case: Case, done: Handling) -> dict[str, float]:
    """`handled` and `wrong` for every question, the others where they have a meaning; their means are the report.

    handled            it did one of the things wanted; an answer is right and cites what it must
    wrong              it answered, and should not have, or the answer is not right
    resolved           of questions that may be answered: answered, right, cited, neither abstained nor handed over
    facts, cited       of those that were answered: the share of facts said, of documents cited
    answer_precision   of answers: right
    abstain_precision  of abstentions: wanted
    abstain_recall     of questions that must not be answered but abstained from: handled as wanted
    hand_over_...      the same of hand-overs, for an agent that has its own
    """
    answered = done.outcomes == ("answer",)
    wanted = bool(set(done.outcomes) & set(case.expect))
    right = wanted and answered and is_right(case, done.text)
    resolved = right and share_cited(case, done.cited) == 1
    handled = resolved if answered else wanted
    found: dict[str, bool | float] = {"handled": handled, "wrong": answered and not right}
    if case.answerable:
        found["resolved"] = resolved
    if answered:
        found["answer_precision"] = right
        if case.answerable:
            found |= {"facts": share_said(case, done.text), "cited": share_cited(case, done.cited)}
    found |= _escalation(case, done, wanted)
    return {name: float(value) for name, value in found.items()}


def why_not(case: Case, done: Handling) -> str:
    """What is not as wanted, in words; empty where all is."""
    if not set(done.outcomes) & set(case.expect):
        return f"wanted: {' or '.join(case.expect)}"
    if done.outcomes != ("answer",):
        return ""
    unsaid = [f"does not say {' or '.join(map(repr, fact))}" for fact in case.facts if not _any_said(done.text, fact)]
    bad = [f"says {one!r}" for one in case.never if says(done.text, one)]
    uncited = [f"does not cite {' or '.join(one)}" for one in case.cite if not _any_cited(one, done.cited)]
    return "; ".join([*unsaid, *bad, *uncited])


def is_right(case: Case, text: str) -> bool:
    """All facts are said, and nothing that must not be."""
    return share_said(case, text) == 1 and not any(says(text, bad) for bad in case.never)


def share_said(case: Case, text: str) -> float:
    return _share(_any_said(text, fact) for fact in case.facts)


def share_cited(case: Case, cited: Sequence[tuple[str, str]]) -> float:
    return _share(_any_cited(wanted, cited) for wanted in case.cite)


def says(text: str, fact: str) -> bool:
    """Whether the words of `fact` follow each other in `text`.

    >>> says("Within 1000 Days.", "1,000 days"), says("130 days", "30 days"), says("not-used goods", "not used")
    (True, False, True)
    """
    there, wanted = words(text), words(fact)
    return any(there[at : at + len(wanted)] == wanted for at in range(len(there) - len(wanted) + 1))


def words(text: str) -> list[str]:
    """
    >>> words("£1,250.50 (café)")
    ['1250.50', 'café']
    """
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [_THOUSANDS.sub("", word) if word[0].isdigit() else word for word in found]


def _escalation(case: Case, done: Handling, wanted: bool) -> dict[str, float]:
    found: dict[str, float] = {}
    must_not_answer = not case.answerable
    if done.abstained and not done.handed_over:
        found["abstain_precision"] = wanted
    if must_not_answer and ("abstain" in case.expect or not done.hands_over):
        found["abstain_recall"] = wanted
    if done.handed_over:
        found["hand_over_precision"] = wanted
    if must_not_answer and "hand over" in case.expect and done.hands_over:
        found["hand_over_recall"] = wanted
    return found


def _any_said(text: str, fact: Sequence[str]) -> bool:
    return any(says(text, one) for one in fact)


def _any_cited(wanted: Sequence[str], cited: Sequence[tuple[str, str]]) -> bool:
    return any(_names(one, *document) for one in wanted for document in cited)


def _share(held: Iterable[bool]) -> float:
    """1 where nothing is asked for."""
    listed = list(held)
    return sum(listed) / len(listed) if listed else 1.0


def _names(wanted: str, identity: str, title: str) -> bool:
    """A row of a table has its file's id before the `#`."""
    file = identity.partition("#")[0]
    return wanted in (identity, file, title) or f"/{file}".endswith(f"/{wanted.lstrip('/')}")
