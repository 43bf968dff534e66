"""An agent that remembers: follow-ups are asked in full, and each answer becomes a turn of a session."""

from collections.abc import AsyncGenerator, Callable, Mapping
from collections.abc import Generator as Steps
from contextlib import closing
from functools import partial
from typing import Any, Protocol

from ..answer import Answer
from ..background import in_thread
from ..events import AnswerReady, Event, QuestionRewritten
from ..question import checked
from .followup import Rewritten
from .rewriter import Rewriter
from .sessions import Sessions, checked_name
from .turn import Turn


class Streams(Protocol):
    """What a conversation needs of an agent: `stream(question, asked=..., session=...)` and what else a caller gives."""

    @property
    def stream(self) -> Callable[..., Steps[Event, None, None]]: ...


class Conversation:
    """One session with one agent. Make it with `Agent.session`. Whatever else is given to `ask` goes to the agent's.

    A question that could not be asked, or whose stream was closed before its answer, is not remembered.
    """

    def __init__(self, agent: Streams, sessions: Sessions, name: str, rewriter: Rewriter) -> None:
        """Raises InvalidSession."""
        self.name = checked_name(name)
        self._agent, self._sessions, self._rewriter = agent, sessions, rewriter

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Oldest first."""
        return self._sessions.turns(self.name)

    def rewrite(self, question: str) -> Rewritten:
        """What would be asked of the documents."""
        return self._rewriter(question, self.turns)

    def ask(self, question: str, **how: Any) -> Answer:
        """The answer. `answer.trace.question` is the question in full, `answer.trace.asked` what was typed."""
        return [event.answer for event in self.stream(question, **how) if isinstance(event, AnswerReady)][-1]

    def stream(self, question: str, **how: Any) -> Steps[Event, None, None]:
        """What happens, as it happens: `QuestionRewritten` first where it was. Raises InvalidQuestion."""
        return self._events(checked(question), how)

    async def aask(self, question: str, **how: Any) -> Answer:
        """`ask`, with every step in a worker thread."""
        events = self.astream(question, **how)
        return [event.answer async for event in events if isinstance(event, AnswerReady)][-1]

    def astream(self, question: str, **how: Any) -> AsyncGenerator[Event, None]:
        """`stream`, with every step in a worker thread."""
        return in_thread(partial(self._events, checked(question), how))

    def forget(self) -> bool:
        """Deletes the session. Whether there was one."""
        return self._sessions.delete(self.name)

    def _events(self, question: str, how: Mapping[str, Any]) -> Steps[Event, None, None]:
        full = self.rewrite(question)
        if full.question != question:
            yield QuestionRewritten(asked=question, question=full.question, because=full.because)
        with closing(self._agent.stream(full.question, asked=question, session=self.name, **how)) as events:
            for event in events:
                if isinstance(event, AnswerReady):
                    self._sessions.add(self.name, question, event.answer)
                yield event
