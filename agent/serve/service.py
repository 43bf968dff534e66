"""What the routes share: an agent over a library, turns, sessions, counts."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass

from ...dllm.draft import Generator
from ...retrieval.document import Scalar
from ...retrieval.index import Index
from ..agent import Agent
from ..answer import Answer
from ..events import AnswerReady, Event, QuestionRewritten
from ..memory.rewriter import RuleRewriter
from ..memory.sessions import Sessions, checked_name
from ..memory.turn import Turn
from ..options import AgentOptions
from ..question import checked
from .errors import InvalidRequest
from .keys import Keys
from .library import Library
from .metrics import Metrics
from .options import ServeOptions
from .turns import Turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as a client asked it. `turns` is what was said before it, where the client keeps that itself; `session`
    names a conversation that the server keeps."""

    text: str
    where: Mapping[str, Scalar] | None = None
    seed: int | None = None
    session: str = ""
    turns: Sequence[Turn] = ()
    owner: str = ""
    request_id: str = ""


class Service:
    """One per server. `events` is where every answer comes from, whatever the dialect."""

    def __init__(
        self,
        index: Index,
        generator: Generator,
        *,
        options: ServeOptions | None = None,
        agent_options: AgentOptions | None = None,
        keys: Keys | None = None,
        sessions: Sessions | None = None,
        saved: bool = False,
    ) -> None:
        self.options = options or ServeOptions()
        self.keys = keys or Keys()
        self.generator = generator
        self.library = Library(index, saved=saved, read_only=self.options.read_only)
        self.sessions = Sessions() if sessions is None else sessions
        self.metrics = Metrics()
        self.turns = Turns(self.options.running, self.options.waiting)
        self.ready = False
        self._agent_options = agent_options or AgentOptions()
        if self.options.threads > 1:
            from ...dllm.mini.reader import EmbeddedReader  # brings torch, which a hosted model does without

            if isinstance(generator, EmbeddedReader):
                generator.share_passes()
        self._stepping = ThreadPoolExecutor(self.options.threads, thread_name_prefix="remask-step")
        self.metrics.watch("remask_running", "Questions worked on.", lambda: self.turns.running)
        self.metrics.watch("remask_waiting", "Questions that wait for a turn.", lambda: self.turns.waiting)
        self.metrics.watch("remask_passages", "Passages in the index.", lambda: len(index))

    def start(self) -> None:
        """In the event loop that serves. Steps of all answers go through one queue: each question in turn takes one step,
        so that a long one does not hold up the others."""
        asyncio.get_running_loop().set_default_executor(self._stepping)
        self.ready = True

    def stop(self) -> None:
        """Lets the step in progress and a change of the library end."""
        self.ready = False
        self._stepping.shutdown(wait=True, cancel_futures=True)
        self.library.close()

    def check(self, question: Question) -> None:
        """Refuses what can be refused before any work. Raises InvalidQuestion, InvalidSession, InvalidRequest, TooBusy."""
        checked(question.text)
        most = self.options.max_question_characters
        if len(question.text) > most:
            raise InvalidRequest(f"the question has {len(question.text):,} characters, and {most:,} are allowed")
        if question.session:
            checked_name(question.session)
        self.turns.check()

    async def events(self, question: Question) -> AsyncGenerator[Event, None]:
        """What happens, as it happens, `AnswerReady` last. Closing it stops the model before its next pass."""
        async with self.turns.taken(), aclosing(self._asked(question)) as events:
            ended = False
            try:
                async for event in events:
                    self.metrics.event(event)
                    ended = isinstance(event, AnswerReady)
                    yield event
                    if ended:
                        return  # asking for the end, too, would wait behind the steps of other questions
            finally:
                if not ended:
                    self.metrics.cancelled()

    async def answer(self, question: Question) -> Answer:
        async with aclosing(self.events(question)) as events:
            found = [event.answer async for event in events if isinstance(event, AnswerReady)]
        return found[-1]

    async def _asked(self, question: Question) -> AsyncGenerator[Event, None]:
        agent = self._agent(question.seed)
        if question.session:
            conversation = agent.session(question.session, sessions=self.sessions.of(question.owner))
            events = conversation.astream(question.text, where=question.where, request_id=question.request_id)
        else:
            asked = checked(question.text)
            full = await asyncio.to_thread(self._in_full, asked, question.turns)
            if full != asked:
                yield QuestionRewritten(asked=asked, question=full, because="taken with what was said before")
            events = agent.astream(full, where=question.where, asked=asked, request_id=question.request_id)
        async with aclosing(events) as found:
            async for event in found:
                yield event

    def _in_full(self, question: str, turns: Sequence[Turn]) -> str:
        """Each earlier question is put in full from those before it, then this one."""
        rewriter = RuleRewriter(self.library.index.search)
        known: list[Turn] = []
        for turn in turns:
            known.append(turn.model_copy(update={"question": rewriter(turn.asked, known).question}))
        return rewriter(question, known).question

    def _agent(self, seed: int | None) -> Agent:
        options = self._agent_options if seed is None else self._agent_options.model_copy(update={"seed": seed})
        index = self.library.index
        return Agent(index, self.generator, documents=index.document, options=options)
