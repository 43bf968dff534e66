"""What is logged and traced of a question, what is kept out of it, and that nobody watching costs nothing."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from remask.agent import Agent, ModelFailed
from remask.agent.spans import CAPTURE
from remask.dllm.draft import Draft, Prompt
from remask.dllm.errors import GenerationFailed
from remask.dllm.scripted import ScriptedGenerator, pointing

from .shelf import LIBRARY, Shelf, over
from .test_agent import Broken

WHEN = "When did Mira Holt restore the fresco?"


def the_year(prompt: Prompt) -> Draft:
    return pointing(prompt, "1952")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The SDK set up as a program would. The provider of a process can't be set twice, hence the patch of its holder."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield kept
    provider.shutdown()


def named(spans: InMemorySpanExporter) -> dict[str, Any]:
    return {span.name: span for span in spans.get_finished_spans()}


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(record.message) for record in caplog.records if record.name == "remask.agent"]


def test_one_line_a_question_tells_what_came_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "remask.agent")
    answer = over(LIBRARY, ScriptedGenerator(the_year)).ask(WHEN, request_id="r-1")
    (said,) = lines(caplog)
    assert (said["request_id"], said["model"], said["outcome"]) == ("r-1", "scripted", "answered") == (
        answer.trace.request_id, said["model"], "answered"
    )  # fmt: skip
    assert (said["citations"], said["searches"], said["tools"], said["stopped"]) == (1, 1, [], "supported")
    assert set(said["stages"]) == {"retrieve", "draft", "refine", "cite", "total"}
    assert all(word not in caplog.text for word in ("Mira", "fresco", "1952"))


def test_a_request_without_an_id_gets_one_where_somebody_watches_and_each_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = over(LIBRARY, ScriptedGenerator(the_year))
    assert agent.ask(WHEN).trace.request_id == ""
    caplog.set_level(logging.INFO, "remask.agent")
    ids = [agent.ask(WHEN).trace.request_id for _ in range(2)]
    assert [said["request_id"] for said in lines(caplog)] == ids
    assert len(set(ids)) == 2
    assert "" not in ids


def test_an_abstention_a_failure_and_a_reader_who_leaves_are_told_apart(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "remask.agent")
    over(LIBRARY, ScriptedGenerator()).ask(WHEN)
    with pytest.raises(ModelFailed):
        over(LIBRARY, Broken(GenerationFailed("no"))).ask(WHEN)
    stream = over(LIBRARY, ScriptedGenerator(the_year)).stream(WHEN)
    next(stream)
    stream.close()
    assert [said["outcome"] for said in lines(caplog)] == ["abstained", "ModelFailed", "left"]


def test_a_session_is_named_in_the_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "remask.agent")
    asyncio.run(over(LIBRARY, ScriptedGenerator(the_year)).session("anna").aask(WHEN, request_id="r-2"))
    assert [(said["session"], said["request_id"]) for said in lines(caplog)] == [("anna", "r-2")]


def test_spans_follow_the_conventions_for_agents(spans: InMemorySpanExporter) -> None:
    over(LIBRARY, ScriptedGenerator(the_year)).session("anna").ask(WHEN, request_id="r-3")
    found = named(spans)
    root, chat, search = found["invoke_agent remask"], found["chat scripted"], found["retrieval"]
    assert dict(root.attributes) | {"remask.confidence": 0} == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "remask",
        "gen_ai.agent.name": "remask",
        "gen_ai.request.model": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.conversation.id": "anna",
        "remask.request_id": "r-3",
        "remask.abstained": False,
        "remask.confidence": 0,
        "remask.citations": 1,
        "remask.stopped": "supported",
    }
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert [event.name for event in chat.events] == ["pass", "pass"]
    assert search.attributes["remask.hits"] == 3
    assert all(span.parent.span_id == root.context.span_id for span in (chat, search, found["cite"]))
    assert len({span.context.trace_id for span in found.values()}) == 1


def test_a_span_of_the_program_is_the_parent_even_from_another_thread(spans: InMemorySpanExporter) -> None:
    with trace.get_tracer("program").start_as_current_span("outer"):
        asyncio.run(over(LIBRARY, ScriptedGenerator(the_year)).aask(WHEN))
    found = named(spans)
    assert found["invoke_agent remask"].parent.span_id == found["outer"].context.span_id


def test_content_is_only_recorded_when_asked_for(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = over(LIBRARY, ScriptedGenerator(the_year))
    agent.ask(WHEN)
    told = [str(dict(span.attributes or {})) for span in spans.get_finished_spans()]
    assert not any(word in text for text in told for word in ("Mira", "1952"))
    spans.clear()
    monkeypatch.setenv(CAPTURE, "true")
    agent.ask(WHEN)
    found = named(spans)
    assert found["retrieval"].attributes["gen_ai.retrieval.query.text"] == WHEN
    assert found["retrieval"].attributes["gen_ai.retrieval.documents"][0].startswith("mira#")
    assert found["invoke_agent remask"].attributes["remask.answer"] == "1952"


def test_a_tool_has_a_span_of_its_own(spans: InMemorySpanExporter) -> None:
    def weather(city: str) -> str:
        """Tell the weather of a city."""
        return f"It rains in {city}."

    shelf = Shelf(LIBRARY)
    Agent(shelf, ScriptedGenerator(), tools=[weather]).ask("Tell the weather in Bergen")
    span = named(spans)["execute_tool weather"]
    assert span.attributes["gen_ai.tool.name"] == "weather"


def test_a_failure_is_an_error_and_a_reader_who_leaves_is_not(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ModelFailed):
        over(LIBRARY, Broken(GenerationFailed("no"))).ask(WHEN)
    root = named(spans)["invoke_agent remask"]
    assert (root.status.status_code, root.attributes["error.type"]) == (trace.StatusCode.ERROR, "ModelFailed")
    spans.clear()
    stream = over(LIBRARY, ScriptedGenerator(the_year)).stream(WHEN)
    next(stream)
    stream.close()
    root = named(spans)["invoke_agent remask"]
    assert (root.status.status_code, root.attributes["remask.cancelled"]) == (trace.StatusCode.UNSET, True)


def test_unwatched_nothing_of_opentelemetry_is_imported() -> None:
    code = "import sys, remask.agent.agent; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
