"""When a person takes over from an agent, and what they are told. Knows rules and replies; reaches nobody.

How a case gets to a person (a ticket, a call, an e-mail) is the caller's: a reply that hands over carries the summary.
"""

from collections.abc import Callable, Iterable

from .answer import Citation, ToolCall
from .guard import Guard
from .reply import Asks, Reply, Said, answer_in

NOTHING_FOUND = "nothing found"
Facts = Callable[[str], Iterable[str]]
"""What is known about things that a question names, in lines; a lookup by order number, say."""


class Desk:
    """One conversation with one person, until a colleague takes over. Then it says so and asks the agent no more.

    A colleague takes over where a rule of the guard says so, and after `misses` questions in a row without an answer. A
    question that a rule refuses is no miss.

        desk = Desk(agent.session(), Guard.read("rules.toml"), say="A colleague will call you.")
        reply = desk.ask("I want to speak to a person.")
        print(reply.handed_over, reply.summary)
    """

    def __init__(self, agent: Asks, guard: Guard, *, say: str, misses: int = 2, facts: Facts | None = None) -> None:
        self._agent, self._guard, self._say, self._misses = agent, guard, say, misses
        self._facts = facts or (lambda _: ())
        self._missed = 0
        self._reason = ""
        self._asked: list[str] = []
        self._known: dict[str, None] = {}
        self._cited: dict[str, None] = {}

    @property
    def handed_over(self) -> bool:
        return bool(self._reason)

    def ask(self, question: str) -> Reply:
        """Raises what the agent raises; the question is remembered all the same."""
        self._asked.append(question)
        self._known |= dict.fromkeys(self._facts(question))
        if self._reason:
            return self._handed(Reply(text=self._say, abstained=True))
        reply = self._guard.ask(self._agent, question)
        self._remember(reply)
        self._missed = self._missed + 1 if _missed(reply) else 0
        if reply.handed_over:
            self._reason = reply.rule or NOTHING_FOUND
        elif self._missed >= self._misses:
            self._reason = NOTHING_FOUND
            reply = reply.model_copy(update={"text": self._say, "notice": self._say})
        return self._handed(reply) if self._reason else reply

    def summary(self) -> str:
        """What a colleague should know, in lines: the reason, the questions, what was looked up, what was quoted."""
        parts = [("Reason", [self._reason] if self._reason else []), ("Asked", self._asked)]
        parts += [("Looked up", list(self._known)), ("Told from the documents", list(self._cited))]
        return "\n".join(
            line for name, lines in parts if lines for line in (f"{name}:", *(f"- {one}" for one in lines))
        )

    def _remember(self, reply: Said) -> None:
        answer = answer_in(reply)
        if answer is not None:
            self._known |= dict.fromkeys(_told(call) for call in answer.trace.calls)
        self._cited |= dict.fromkeys(_quoted(citation) for citation in reply.citations)

    def _handed(self, reply: Reply) -> Reply:
        return reply.model_copy(update={"handed_over": True, "abstained": True, "summary": self.summary()})


def _missed(reply: Reply) -> bool:
    return reply.abstained and not reply.rule


def _told(call: ToolCall) -> str:
    """
    >>> _told(ToolCall(name="look_up", arguments={"id": "A-1"}, result="State: sent."))
    'look_up(id=A-1): State: sent.'
    """
    given = ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    return f"{call.name}({given}): {' '.join((call.error or call.result).split())}"


def _quoted(citation: Citation) -> str:
    return f"“{' '.join(citation.quote.split())}” ({citation.document_id})"
