"""A user's own agent, from a Python file of theirs, asked like any backend. Runs that file and no other."""

import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..agent.answer import Citation
from ..agent.console import UsageError
from ..agent.errors import AgentError
from ..dllm.errors import ModelError
from .asking import Clock, Row
from .question import Question


class Reply(Protocol):
    """What an own agent gives: `remask.agent.Answer`, or anything like it. `handed_over: bool` may be there, too, and
    `confidence`. Each citation has at least `document_id`, `start`, `end` and `quote`."""

    @property
    def text(self) -> str: ...
    @property
    def citations(self) -> Iterable[Any]: ...
    @property
    def abstained(self) -> bool: ...


class Own(NamedTuple):
    """`reply` is given a question's text."""

    name: str
    model: str
    reply: Callable[[str], Reply]
    prompt: str = ""


def load_own(given: str) -> Own:
    """From `FILE.py:NAME`, where NAME is a function of a question, or an object with `ask(question)`. Raises UsageError."""
    file, colon, name = given.rpartition(":")
    path = Path(file).expanduser()
    if not colon or not name or path.suffix != ".py":
        raise UsageError(f"{given!r} names no agent. Write FILE.py:NAME, as in agent.py:agent")
    if not path.is_file():
        raise UsageError(f"{given!r}: there is no file {str(path)!r}. Check the path")
    found = getattr(_module(path), name, None)
    ask = getattr(found, "ask", found)
    if not callable(ask):
        raise UsageError(f"{given!r}: {path.name} has no {name!r} that is a function or has an `ask`")
    return Own(f"{path.name}:{name}", f"the user's own agent, {path.name}:{name}", ask)


def put(own: Own, question: Question, repeat: int, *, clock: Clock = time.perf_counter) -> tuple[Row, bool]:
    """The row without scores, and whether the agent has a way of its own to hand over. Trouble that remask itself
    reports costs the question; other errors are the user's to mend, and leave."""
    begin = clock()
    error, reply = "", None
    try:
        reply = own.reply(question.text)
    except (AgentError, ModelError) as trouble:
        error = f"{type(trouble).__name__}: {trouble}"
    total = clock() - begin
    handed = getattr(reply, "handed_over", None)
    abstained = reply is None or bool(reply.abstained) or bool(handed)
    row = Row(
        backend=own.name,
        id=question.id,
        repeat=repeat,
        question=question.text,
        type=question.type,
        answers=question.answers,
        gold=None,
        answer="" if reply is None or abstained else reply.text,
        facts=(),
        confidence=min(max(float(getattr(reply, "confidence", 0.0)), 0.0), 1.0),
        abstained=abstained,
        handed_over=bool(handed),
        scores={},
        citations=tuple(_citations(reply)) if reply is not None else (),
        seconds={"first_draft": total, "total": total},
        errors=(error,) if error else (),
    )
    return row, handed is not None


def _citations(reply: Reply) -> Iterator[Citation]:
    for one in reply.citations:
        yield Citation(
            answer_start=getattr(one, "answer_start", 0),
            answer_end=getattr(one, "answer_end", len(reply.text)),
            document_id=one.document_id,
            passage_id=getattr(one, "passage_id", ""),
            start=one.start,
            end=one.end,
            quote=one.quote,
            title=getattr(one, "title", ""),
            support=getattr(one, "support", 0.0),
        )


def _module(path: Path) -> Any:
    """As a script is run: the modules beside it can be imported."""
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(f"own_{path.stem}", path.resolve())
    assert spec is not None, "a .py file always has a spec"
    assert spec.loader is not None, "and a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
