"""`remask ask` and `remask chat`: an agent over an index or over files, and where its answers go."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..dllm.backends import backend as backend_of
from ..dllm.draft import Generator
from .agent import Agent
from .answer import Answer
from .canvas import CanvasView, watch
from .console import Exit, complain, counted, output, progress, watched
from .errors import AgentError
from .indexing import read
from .memory.conversation import Conversation
from .memory.sessions import Sessions, checked_name
from .printed import printed
from .remembering import where


def ask(question: str, *, index: Path | None, docs: Sequence[Path], as_json: bool, backend: str | None = None) -> Exit:
    """One question. On standard output stands the answer and nothing else."""
    agent = opened(index, docs, backend)
    answer = answered(agent, question)
    if as_json:
        sys.stdout.write(answer.model_dump_json(indent=2) + "\n")
    else:
        output().print(printed(answer))
    return Exit.ABSTAINED if answer.abstained else Exit.DONE


def chat(
    *,
    index: Path | None,
    docs: Sequence[Path],
    backend: str | None = None,
    session: str | None = None,
    file: Path | None = None,
) -> Exit:
    """Questions from standard input, a line each, until one is empty. A question that can't be asked ends nothing."""
    name = checked_name(session) if session is not None else "chat"
    sessions = Sessions(where(file)) if session is not None else Sessions()
    talk = opened(index, docs, backend).session(name, sessions=sessions)
    for question in _questions():
        try:
            output().print(printed(answered(talk, question)))
        except AgentError as error:
            complain(str(error))
        output().print()
    return Exit.DONE


def opened(index: Path | None, docs: Sequence[Path], backend: str | None = None) -> Agent:
    """The agent over an index, or over files read now. Files that can't be read are named and left out. The model is
    opened first: one that is missing should not cost the reading of documents."""
    generator = _model(backend) if backend else None
    if index:
        with progress().status("opening the index"):
            return Agent.from_index(index, generator=generator)
    documents, _ = read(docs)
    with progress().status(f"indexing {counted(len(documents), 'document')} in memory"):
        return Agent.from_documents(documents, generator=generator)


def _model(name: str) -> Generator:
    with progress().status(f"opening {name}"):
        return backend_of(name)


def answered(agent: Agent | Conversation, question: str) -> Answer:
    """Shows the canvas filling in where a person watches, and is silent elsewhere."""
    if not watched():
        return agent.ask(question)
    with CanvasView(progress()) as view:
        return watch(agent.stream(question), view)


def _questions() -> Iterator[str]:
    """Lines of standard input, asked for where a person types them."""
    asking = sys.stdin.isatty()
    while True:
        try:
            line = input("? ") if asking else sys.stdin.readline()
        except EOFError:
            return
        if not line.strip():
            return
        yield line.strip()
