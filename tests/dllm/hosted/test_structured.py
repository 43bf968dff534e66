"""JSON and tool calls from servers that get them wrong, refuse them, or can't."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import BaseModel, TypeAdapter
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.errors import GenerationFailed
from remask.dllm.hosted.endpoint import mercury
from remask.dllm.hosted.generator import HostedGenerator
from remask.dllm.hosted.loose import loaded
from remask.dllm.hosted.structured import valid

from .server import Out, Received, completes, refuses, serving

PROMPT = Prompt("Who built it, and when?", (Evidence("Mira Holt built it in 1871."),))


class Built(BaseModel):
    name: str
    year: int


SCHEMA = Built.model_json_schema()
GOOD = {"name": "Mira Holt", "year": 1871}
TOOLS = {"look_up": {"type": "object", "description": "Looks up an order.", "properties": {"id": {"type": "integer"}}}}


def over(url: str) -> HostedGenerator:
    return HostedGenerator.openai(f"{url}#m")


@pytest.mark.parametrize(
    "said",
    [
        json.dumps(GOOD),
        f"Sure! Here it is:\n```json\n{json.dumps(GOOD)}\n```\nAnything else?",
        "{'name': 'Mira Holt', 'year': 1871,}",
        '{name: "Mira Holt", // the builder\n "year": 1_871}',
        '{"name": "Mira Holt", "year": 1871, "note": "cut o',
        "<think>{}</think>" + json.dumps(GOOD),
        "As [1] says: " + json.dumps(GOOD),
        "{“name”: “Mira Holt”, “year”: 1871}",
    ],
)
def test_json_is_read_however_the_model_writes_it(said: str) -> None:
    with serving(completes(said)) as server:
        got = over(server.url).complete_json(PROMPT, SCHEMA)
        assert len(server.received) == 1
    assert Built.model_validate(got) == Built(name="Mira Holt", year=1871)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ('{"name": "Mira Holt"}', "'year' is a required property"),
        ('{"name": "Mira Holt", "year": "long ago"}', "year: 'long ago' is not of type 'integer'"),
        ("I don't know.", "it is no JSON"),
        ("[1, 2]", "a list, not an object"),
    ],
)
def test_json_that_does_not_fit_is_asked_for_again_with_what_is_wrong(said: str, fault: str) -> None:
    with serving(completes(said), completes(json.dumps(GOOD))) as server:
        assert over(server.url).complete_json(PROMPT, SCHEMA) == GOOD
        turns = server.received[1].body["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2]["content"] == said
    assert fault in turns[3]["content"]


def test_json_that_never_fits_is_an_error_after_a_bounded_number_of_tries() -> None:
    with serving(completes('{"name": 1}')) as server:
        with pytest.raises(GenerationFailed, match=r"no JSON that fits its schema: .*1 is not of type 'string'"):
            over(server.url).complete_json(PROMPT, SCHEMA)
        assert len(server.received) == 3


def test_a_server_that_refuses_schemas_is_asked_in_words_alone() -> None:
    def plain(received: Received, out: Out) -> None:
        if "response_format" in received.body:
            return refuses(400, "json_schema is not supported with diffusion models")(received, out)
        return completes(json.dumps(GOOD))(received, out)

    with serving(plain) as server:
        assert over(server.url).complete_json(PROMPT, SCHEMA) == GOOD
        assert '"year"' in server.received[-1].body["messages"][1]["content"]


def test_the_request_for_json_is_one_that_the_official_client_may_send() -> None:
    with serving(completes(json.dumps(GOOD))) as server:
        over(server.url).complete_json(PROMPT, SCHEMA)
        sent = server.received[0].body
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(sent)
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert sent["stream"] is False
    assert "Mira Holt built it" in sent["messages"][1]["content"]


class Part(BaseModel, extra="forbid"):
    name: str


class Whole(BaseModel, extra="forbid"):
    parts: list[Part]


def test_nested_models_are_checked_through_their_references_and_strict_only_where_they_are_closed() -> None:
    with serving(completes('{"parts": [{"name": 1}]}'), completes('{"parts": [{"name": "x"}]}')) as server:
        assert over(server.url).complete_json(PROMPT, Whole.model_json_schema()) == {"parts": [{"name": "x"}]}
        sent = [received.body for received in server.received]
    assert "parts/0/name: 1 is not of type" in sent[1]["messages"][-1]["content"]
    assert sent[0]["response_format"]["json_schema"]["strict"] is True
    with serving(completes(json.dumps(GOOD))) as server:
        over(server.url).complete_json(PROMPT, SCHEMA)
        assert server.received[0].body["response_format"]["json_schema"]["strict"] is False


def test_without_evidence_nothing_is_said_of_it() -> None:
    with serving(completes(json.dumps(GOOD))) as server:
        over(server.url).complete_json(Prompt("Make one up."), SCHEMA)
        assert "evidence" not in json.dumps(server.received[0].body["messages"])


def test_a_schema_that_is_none_or_points_outside_is_refused_and_nothing_is_fetched() -> None:
    with pytest.raises(ValueError, match="no JSON schema"):
        valid({}, {"type": "thing"})
    with pytest.raises(ValueError, match="which is not in it"):
        valid({"a": 1}, {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}})


# Tools.


def test_native_calls_come_with_their_arguments_read_and_checked() -> None:
    calls = [("look_up", '{"id": 7}'), ("look_up", "{'id': 8,}")]
    with serving(completes(None, calls=calls, finish="tool_calls")) as server:
        got = over(server.url).call_tools(Prompt("Where are orders 7 and 8?"), TOOLS)
        sent = server.received[0].body
    assert got == [("look_up", {"id": 7}), ("look_up", {"id": 8})]
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(sent)
    assert sent["tools"][0]["function"]["description"] == "Looks up an order."
    assert "description" not in sent["tools"][0]["function"]["parameters"]
    assert sent["tool_choice"] == "auto"


def test_a_model_that_wants_no_tool_calls_none() -> None:
    with serving(completes("It is in Bergen.")) as server:
        assert over(server.url).call_tools(PROMPT, TOOLS) == []


@pytest.mark.parametrize(("name", "arguments"), [("look_up", '{"id": "x"}'), ("delete", "{}"), ("look_up", "nonsense")])
def test_a_call_that_fits_no_tool_is_made_again(name: str, arguments: str) -> None:
    with serving(
        completes(None, calls=[(name, arguments)]), completes(None, calls=[("look_up", '{"id": 7}')])
    ) as server:
        assert over(server.url).call_tools(PROMPT, TOOLS) == [("look_up", {"id": 7})]
        assert name in server.received[1].body["messages"][-1]["content"]


def test_tools_with_mercury_think_at_least_a_little_and_do_not_diffuse(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(completes(None, calls=[("look_up", "{}")])) as server:
        endpoint = mercury("m", environment={"INCEPTION_API_KEY": "k", "INCEPTION_BASE_URL": server.url})
        assert HostedGenerator(endpoint).call_tools(PROMPT, TOOLS) == [("look_up", {})]
        sent = server.received[0].body
    assert sent["reasoning_effort"] == "low"
    assert "diffusing" not in sent


# JSON as models write it.

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12).filter(lambda t: "\\" not in t),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcdé", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), VALUES, max_size=4), st.booleans())
def test_sound_json_is_never_changed(value: dict[str, Any], spaced: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2 if spaced else None)
    assert loaded(text) == value
    assert loaded(f"Here:\n```json\n{text}\n```") == value


@settings(deadline=None)
@given(st.text(alphabet="{}[]:,\"'ab1 \\n/#“”truefalsnul", max_size=40))
def test_whatever_is_written_gives_a_value_or_says_that_there_is_none(text: str) -> None:
    try:
        held = loaded(text)
    except ValueError:
        return
    assert isinstance(held, dict | list)
    json.dumps(held).encode()


@pytest.mark.parametrize("text", ["", "no", "__import__('os')", "[" * 5000, '{"a": NaN}', "{a: evil()}"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|no value|deep"):
        loaded(text)
