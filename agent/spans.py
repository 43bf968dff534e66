"""OpenTelemetry spans of a question, by the GenAI semantic conventions. Knows events, and nothing of how they come about.

Off, at the cost of one look-up, unless the program has set up OpenTelemetry's SDK. Questions, answers and what was found are
left out unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".

    invoke_agent remask
    ├── execute_tool NAME    a tool that was called
    ├── retrieval            a search
    ├── chat MODEL           a run of the model, with an event for each pass
    └── cite
"""

import os
import sys
from dataclasses import dataclass
from typing import Any

from .answer import Answer
from .events import AnswerReady, DraftMade, DraftRefined, Event, EvidenceFound, PassMade, StageBegan, ToolCalled

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SCOPE = "remask.agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is known of a question before it is worked on."""

    id: str
    question: str
    model: str
    session: str = ""


def tracer() -> Any:
    """OpenTelemetry's tracer where the program has set up a provider; else None. Imports nothing."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None or "opentelemetry.sdk.trace" not in sys.modules:
        return None
    provider = api.get_tracer_provider()
    return None if isinstance(provider, api.ProxyTracerProvider) else provider.get_tracer(SCOPE)


class Spans:
    """The spans of one question. None is current while the question's stream waits to be read on."""

    def __init__(self, tracer: Any, request: Request) -> None:
        """Begins the outermost span, inside whichever is current."""
        from opentelemetry import trace

        self._trace, self._tracer, self._model = trace, tracer, request.model
        self._content = os.environ.get(CAPTURE, "").casefold() == "true"
        self._root = tracer.start_span("invoke_agent remask", attributes=_about(request))
        if self._content:
            self._root.set_attribute("remask.question", request.question)
        self._inside = trace.set_span_in_context(self._root)
        self._stage: Any = None

    def see(self, event: Event) -> None:
        """A stage's span lasts from its beginning to the event that closes it."""
        match event:
            case StageBegan():
                self._begin(event)
            case ToolCalled():
                self._end_stage(self._tool(event))
            case EvidenceFound():
                self._end_stage(self._found(event))
            case PassMade() if self._stage:
                made = event.made
                passed = {"remask.pass": made.index, "remask.committed": made.committed, "remask.masked": made.masked}
                self._stage.add_event("pass", {**passed, "remask.remasked": len(made.remasked)})
            case DraftMade() | DraftRefined():
                self._end_stage({"gen_ai.response.model": self._model, "remask.confidence": event.draft.confidence})
            case AnswerReady():
                self._end_stage({})
                self._root.set_attributes(self._answered(event.answer))

    def fail(self, error: BaseException) -> None:
        """A reader who left early is no error."""
        left = isinstance(error, GeneratorExit)
        for span in filter(None, (self._stage, self._root)):
            if left:
                span.set_attribute("remask.cancelled", True)
                continue
            span.record_exception(error)
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, type(error).__name__))

    def end(self) -> None:
        self._end_stage({})
        self._root.end()

    def _begin(self, event: StageBegan) -> None:
        self._end_stage({})
        operation = {"retrieve": "retrieval", "draft": "chat", "refine": "chat"}.get(event.stage, event.stage)
        name = f"chat {self._model}" if operation == "chat" else operation
        about = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "remask", "remask.stage": event.stage}
        if operation == "chat":
            about["gen_ai.request.model"] = self._model
        if self._content and event.stage == "retrieve":
            about["gen_ai.retrieval.query.text"] = event.detail
        self._stage = self._tracer.start_span(name, context=self._inside, attributes=about)

    def _tool(self, event: ToolCalled) -> dict[str, Any]:
        call = event.call
        if self._stage:
            self._stage.update_name(f"execute_tool {call.name}")
        told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name, "gen_ai.tool.type": "function"}
        return told | ({"error.type": "ToolFailed"} if call.error else {})

    def _found(self, event: EvidenceFound) -> dict[str, Any]:
        told: dict[str, Any] = {"remask.hits": len(event.hop.hits), "remask.occasion": event.hop.occasion}
        if self._content:
            told["gen_ai.retrieval.documents"] = [hit.passage_id for hit in event.hop.hits]
        return told

    def _answered(self, answer: Answer) -> dict[str, Any]:
        told: dict[str, Any] = {
            "gen_ai.response.model": answer.trace.generator,
            "remask.abstained": answer.abstained,
            "remask.confidence": answer.confidence,
            "remask.citations": len(answer.citations),
            "remask.stopped": answer.trace.stopped,
        }
        return told | ({"remask.answer": answer.text} if self._content else {})

    def _end_stage(self, attributes: dict[str, Any]) -> None:
        if self._stage:
            self._stage.set_attributes(attributes)
            self._stage.end()
        self._stage = None


def _about(request: Request) -> dict[str, Any]:
    about = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "remask",
        "gen_ai.agent.name": "remask",
        "gen_ai.request.model": request.model,
        "remask.request_id": request.id,
    }
    return about | ({"gen_ai.conversation.id": request.session} if request.session else {})
