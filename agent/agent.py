"""The agent: documents and a model in, cited answers out. Builds what a run needs; how it runs is in `run`."""

import asyncio
import time
import warnings
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from ..dllm.draft import Generator, budget_of
from ..dllm.structured import completes, infills
from ..retrieval.document import Document, Retriever, Scalar
from ..retrieval.embed import Embedder
from ..retrieval.index import Index
from ..retrieval.milvus import Collection, is_address
from .answer import Answer
from .background import in_thread
from .events import AnswerReady, Event
from .gather import Documents, Gathering
from .memory.conversation import Conversation
from .memory.rewriter import ModelRewriter, Rewriter, RuleRewriter
from .memory.sessions import Sessions
from .memory.turn import Turn
from .observe import new_id, observed, observing
from .options import AgentOptions
from .question import checked
from .run import Events, Run, Tools
from .spans import Request
from .support import LexicalScorer, Scorer
from .tools.at_once import at_once
from .tools.structured import Matcher, Structured, by_questions
from .tools.tool import Tool
from .tools.toolbox import Toolbox, by_embedder, shared_words

Where = Mapping[str, Scalar]
Model = TypeVar("Model", bound=BaseModel)


class Agent:
    """Answers questions from documents, with citations, or abstains.

    Keeps nothing between questions, so one agent may serve many callers as far as its retriever and its model may.

        agent = Agent.from_documents("handbook/")
        answer = agent.ask("How many days of leave are there?")
        print(answer.text, answer.citations[0].quote)
    """

    def __init__(
        self,
        retriever: Retriever,
        generator: Generator,
        *,
        documents: Callable[[str], Document] | None = None,
        options: AgentOptions | None = None,
        scorer: Scorer | None = None,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`documents` gives a document by its id, KeyError where there is none: with it every quotation is checked once
        more against the whole document. `scorer` computes support, `clock` gives seconds. `tools` are functions that may
        be called; `embedder` tells what they and the choices of a schema are about, words in common do without it.

        Raises SchemaUnusable for a function that can't be a tool.
        """
        self.options = (options or AgentOptions()).fitted(budget_of(generator))
        self.skipped: tuple[str, ...] = ()
        """The files that `from_documents` could not read, with the reason."""
        self._match: Matcher = by_embedder(embedder) if embedder else shared_words
        toolbox = Toolbox(tools, generator=generator, matcher=self._match, clock=clock)
        self._tools = Tools(
            retriever=retriever,
            generator=generator,
            documents=documents,
            options=self.options,
            scorer=scorer or LexicalScorer(),
            clock=clock,
            toolbox=toolbox if toolbox.tools else None,
        )

    @classmethod
    def from_documents(
        cls,
        documents: Documents,
        *,
        generator: Generator | None = None,
        embedder: Embedder | None = None,
        options: AgentOptions | None = None,
        tools: Iterable[Tool | Callable[..., Any]] = (),
    ) -> "Agent":
        """Indexes documents in memory: paths of files and folders, Documents, or records with a `text`.

        Without a generator the embedded reader is loaded. A file that can't be read is left out with a warning, and
        listed in `skipped`. Raises RetrievalError for what is no document.
        """
        gathering = Gathering(documents)
        index = Index.create(gathering, embedder=embedder)
        for line in gathering.skipped:
            warnings.warn(f"left out: {line}", stacklevel=2)
        agent = cls._over(index, generator, options, tools)
        agent.skipped = tuple(gathering.skipped)
        return agent

    @classmethod
    def from_index(
        cls,
        path: Path | str,
        *,
        generator: Generator | None = None,
        embedder: Embedder | None = None,
        options: AgentOptions | None = None,
        tools: Iterable[Tool | Callable[..., Any]] = (),
    ) -> "Agent":
        """Over an index in a folder, or a collection as in "milvus:URI#NAME". Raises RetrievalError where there is none."""
        return cls._over(_opened(path, embedder), generator, options, tools)

    @overload
    def ask(self, question: str, *, where: Where | None = ..., asked: str = ..., request_id: str = ...) -> Answer: ...

    @overload
    def ask(
        self, question: str, *, schema: type[Model], where: Where | None = ..., asked: str = ..., request_id: str = ...
    ) -> Structured[Model]: ...

    def ask(
        self,
        question: str,
        *,
        schema: type[Model] | None = None,
        where: Where | None = None,
        asked: str = "",
        request_id: str = "",
    ) -> Answer | Structured[Model]:
        """The answer. `where` keeps to documents whose metadata has these values. `asked` is what was typed, where the
        question was rewritten; `request_id` goes into the trace, the log and spans. With `schema`, a pydantic model, a value
        for each of its fields that the documents carry.

        Raises InvalidQuestion, ModelFailed where the model gave no draft, and SchemaUnusable for a field whose type can't
        be filled in.
        """
        if schema is not None:
            return self._structured(checked(question), schema, where, request_id)
        return _last(self.stream(question, where=where, asked=asked, request_id=request_id))

    def stream(
        self, question: str, *, where: Where | None = None, asked: str = "", session: str = "", request_id: str = ""
    ) -> Events:
        """What happens, as it happens, `AnswerReady` last. Closing it stops the model before its next pass. `session` only
        names the conversation in logs and spans."""
        return self._started(question, where, asked, session, request_id)()

    @overload
    async def aask(
        self, question: str, *, where: Where | None = ..., asked: str = ..., request_id: str = ...
    ) -> Answer: ...

    @overload
    async def aask(
        self, question: str, *, schema: type[Model], where: Where | None = ..., asked: str = ..., request_id: str = ...
    ) -> Structured[Model]: ...

    async def aask(
        self,
        question: str,
        *,
        schema: type[Model] | None = None,
        where: Where | None = None,
        asked: str = "",
        request_id: str = "",
    ) -> Answer | Structured[Model]:
        """`ask`, with every step in a worker thread."""
        if schema is not None:
            return await asyncio.to_thread(self._structured, checked(question), schema, where, request_id)
        events = self.astream(question, where=where, asked=asked, request_id=request_id)
        return [event async for event in events if isinstance(event, AnswerReady)][-1].answer

    def astream(
        self, question: str, *, where: Where | None = None, asked: str = "", session: str = "", request_id: str = ""
    ) -> AsyncGenerator[Event, None]:
        """`stream`, with every step in a worker thread. Closing or cancelling stops the model before its next pass."""
        return in_thread(self._started(question, where, asked, session, request_id))

    def session(
        self, name: str = "chat", *, sessions: Sessions | None = None, rewriter: Rewriter | None = None
    ) -> Conversation:
        """A conversation: follow-ups are asked in full, turns are kept in `sessions`, or only as long as it is held.

        A model with a JSON mode rewrites them, else rules do. Raises InvalidSession.
        """
        return Conversation(self, Sessions() if sessions is None else sessions, name, rewriter or self._rewriter())

    def in_full(self, question: str, turns: Sequence[Turn]) -> str:
        """What a question means after these turns, oldest first; for callers who keep conversations themselves."""
        return self._rewriter()(checked(question), turns).question

    def _started(
        self, question: str, where: Where | None, asked: str, session: str, request_id: str
    ) -> Callable[[], Events]:
        """A run that has not begun. A request gets an id of its own where somebody watches and none was given."""
        full, watched = checked(question), observing()
        request_id = request_id or (new_id() if watched else "")
        run = Run(self._tools, full, where, asked=asked, request_id=request_id)
        if not watched:
            return run.events
        request = Request(id=request_id, question=full, model=self._tools.generator.name, session=session)
        return partial(observed, run.events, request)

    def _structured(
        self, question: str, schema: type[Model], where: Where | None, request_id: str
    ) -> Structured[Model]:
        generator, tools = self._tools.generator, self._tools
        if not (infills(generator) or completes(generator)):
            return by_questions(
                lambda small: self.ask(small, where=where, request_id=request_id), question, schema, self._match
            )
        hits = tools.retriever.search(question, self.options.top_k, where=where)
        return at_once(
            generator,
            question,
            schema,
            [hit.passage for hit in hits],
            scorer=tools.scorer,
            documents=tools.documents,
            seed=self.options.seed,
        )

    def _rewriter(self) -> Rewriter:
        rules = RuleRewriter(self._tools.retriever.search)
        return ModelRewriter(self._tools.generator, rules) if completes(self._tools.generator) else rules

    @classmethod
    def _over(
        cls,
        index: Index | Collection,
        generator: Generator | None,
        options: AgentOptions | None,
        tools: Iterable[Tool | Callable[..., Any]],
    ) -> "Agent":
        chosen = generator or _embedded_reader()
        return cls(index, chosen, documents=index.document, options=options, tools=tools, embedder=index.embedder)


def _opened(place: Path | str, embedder: Embedder | None) -> Index | Collection:
    if is_address(place):
        return Collection.open(str(place), embedder=embedder)
    return Index.open(place, embedder=embedder)


def _last(events: Events) -> Answer:
    answers = [event.answer for event in events if isinstance(event, AnswerReady)]
    assert len(answers) == 1, "a run ends with one answer"
    return answers[0]


def _embedded_reader() -> Generator:
    from ..dllm.mini.reader import EmbeddedReader  # brings torch

    return EmbeddedReader.load()
