"""What can be seen of a question from outside: one line in the log, spans, and the id they share. Costs nothing unwatched.

The line is JSON, from the logger "remask.agent" at level INFO. It never holds the question, the answer or evidence.
"""

import json
import logging
import secrets
import time
from collections.abc import Callable
from collections.abc import Generator as Steps
from contextlib import closing
from typing import Any

from .answer import Answer
from .events import AnswerReady, Event
from .spans import Request, Spans, tracer

LOG = logging.getLogger("remask.agent")


def observing() -> bool:
    """Whether anybody looks."""
    return LOG.isEnabledFor(logging.INFO) or tracer() is not None


def new_id() -> str:
    return secrets.token_hex(8)


def observed(start: Callable[[], Steps[Event, None, None]], request: Request) -> Steps[Event, None, None]:
    """The same events, watched. A line is written when the answer is there, the question failed, or its reader left."""
    tracing, begin = tracer(), time.perf_counter()
    spans = Spans(tracing, request) if tracing is not None else None
    answer: Answer | None = None
    outcome = "left"
    try:
        with closing(start()) as events:
            for event in events:
                if spans:
                    spans.see(event)
                if isinstance(event, AnswerReady):
                    answer = event.answer
                    outcome = "abstained" if answer.abstained else "answered"
                yield event
    except BaseException as error:
        outcome = outcome if isinstance(error, GeneratorExit) else type(error).__name__
        if spans and not (answer and isinstance(error, GeneratorExit)):
            spans.fail(error)
        raise
    finally:
        if spans:
            spans.end()
        if LOG.isEnabledFor(logging.INFO):
            LOG.info(line(request, outcome, time.perf_counter() - begin, answer))


def line(request: Request, outcome: str, seconds: float, answer: Answer | None) -> str:
    """One line of JSON.

    >>> line(Request(id="r1", question="Who?", model="embedded"), "left", 0.25, None)
    '{"request_id": "r1", "session": "", "model": "embedded", "outcome": "left", "seconds": 0.25}'
    """
    said: dict[str, Any] = {
        "request_id": request.id,
        "session": request.session,
        "model": request.model,
        "outcome": outcome,
        "seconds": round(seconds, 4),
    }
    return json.dumps(said | (_about(answer) if answer else {}))


def _about(answer: Answer) -> dict[str, Any]:
    trace = answer.trace
    return {
        "kind": answer.kind,
        "confidence": round(answer.confidence, 4),
        "citations": len(answer.citations),
        "stopped": trace.stopped,
        "searches": len(trace.hops),
        "tools": [call.name for call in trace.calls],
        "passes": sum(made.index > 0 for made in trace.passes),
        "errors": len(trace.errors),
        "stages": {stage: round(spent, 4) for stage, spent in trace.seconds.items()},
    }
