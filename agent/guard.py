"""Rules that look at a question before the documents do, and at an answer before a person does.

A rule is written down, not learnt: whoever answers for the agent can read what it does. A file of rules is TOML:

    [[rule]]
    name = "emergency"
    when = ["chest pain", "can't|cannot breathe"]     # phrases, see `phrases`
    unless = ["history of"]                           # optional
    do = "first"
    say = "Call 112 now."

`do` is one of
    first       `say` comes first, then whatever the answer is
    refuse      `say` is all there is; nothing is asked
    hand over   the same, and a person takes over
    cited only  the answer is given if what it cites names every one of `names` that is in the question, and every number in
                the question; otherwise `say`
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from .answer import Record
from .errors import GuardUnusable
from .phrases import matches
from .reply import Asks, Reply, Said, answer_in, joined
from .support import numbers

Action = Literal["first", "refuse", "hand over", "cited only"]


def _saying(text: str) -> str:
    if not text.strip():
        raise ValueError("a text that says nothing")
    return text.strip()


Words = Annotated[str, AfterValidator(_saying)]


class Rule(Record):
    """What is recognised, and what is done then."""

    name: Words
    when: tuple[Words, ...] = Field(min_length=1)
    unless: tuple[Words, ...] = ()
    do: Action
    say: Words
    names: tuple[Words, ...] = ()

    @model_validator(mode="after")
    def _names_where_they_count(self) -> "Rule":
        if self.names and self.do != "cited only":
            raise ValueError(f"'names' belongs to rules that do 'cited only', and this one does {self.do!r}")
        return self

    def applies(self, question: str) -> bool:
        return matches(self.when, question) and not matches(self.unless, question)

    def carried(self, question: str, said: Said) -> bool:
        """Whether what is cited names what the question names, and its numbers."""
        cited = " ".join(f"{one.title} {one.quote}" for one in said.citations)
        named = [name for name in self.names if matches([name], question)]
        return all(matches([name], cited) for name in named) and numbers(question) <= numbers(cited)


class Guard(Record):
    """Rules in their order. Of several that end a question, the first one speaks."""

    rule: tuple[Rule, ...] = ()

    @classmethod
    def read(cls, path: Path | str) -> "Guard":
        """From a TOML file. Raises GuardUnusable, which names the rule and the key."""
        try:
            return cls.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except ValidationError as error:
            first = error.errors()[0]
            where = ", ".join(str(part) for part in first["loc"]) or "the file"
            raise GuardUnusable(
                f"{str(path)!r} holds no rules: {where}: {first['msg']}. See remask.agent.guard"
            ) from error
        except (OSError, ValueError) as error:
            raise GuardUnusable(f"{str(path)!r} can't be read as rules: {error}. See remask.agent.guard") from error

    def applying(self, question: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rule if rule.applies(question))

    def ask(self, agent: Asks, question: str) -> Reply:
        """Asks the agent, unless a rule says what to do instead."""
        rules = self.applying(question)
        notices = [rule for rule in rules if rule.do == "first"]
        ending = next((rule for rule in rules if rule.do in ("refuse", "hand over")), None)
        if ending:
            return _ended(ending, notices)
        said = agent.ask(question)
        failed = next((r for r in rules if r.do == "cited only" and not r.carried(question, said)), None)
        if failed and not said.abstained:
            return _ended(failed, notices, said)
        return _noticed(notices, said)


class Guarded:
    """An agent behind a guard; asked like the agent itself."""

    def __init__(self, agent: Asks, guard: Guard) -> None:
        self._agent, self._guard = agent, guard

    def ask(self, question: str) -> Reply:
        return self._guard.ask(self._agent, question)


def _ended(rule: Rule, notices: list[Rule], said: Said | None = None) -> Reply:
    text, _ = joined([*(notice.say for notice in notices), rule.say])
    return Reply(
        text=text,
        abstained=True,
        handed_over=rule.do == "hand over",
        rule=rule.name,
        notice=text,
        answer=answer_in(said) if said else None,
    )


def _noticed(notices: list[Rule], said: Said) -> Reply:
    """What was said, behind the notices. A reply keeps what it knows."""
    ours = [rule.say for rule in notices]
    text, citations = joined([*ours, said])
    known = said if isinstance(said, Reply) else Reply(text=said.text, abstained=said.abstained)
    notice, _ = joined([*ours, known.notice])
    update = {
        "text": text,
        "citations": citations,
        "confidence": said.confidence,
        "rule": notices[0].name if notices else known.rule,
        "notice": notice,
        "answer": answer_in(said),
    }
    return known.model_copy(update=update)
