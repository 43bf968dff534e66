"""Our own routes: the answer, the stream of events, sessions, health, counts."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2 as httpx
import pytest
from remask.agent import Answer
from remask.dllm.errors import GenerationFailed
from remask.dllm.mini.reader import EmbeddedReader
from remask.dllm.scripted import ScriptedGenerator

from .running import WHEN, client, in_memory, service_over


@pytest.fixture(scope="module")
def web() -> Any:
    with client(service_over(in_memory())) as one:
        yield one


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Read by the rules of the standard, independently of what wrote them."""
    found: list[tuple[str, dict[str, Any]]] = []
    for block in text.split("\n\n"):
        lines = [line.partition(": ")[::2] for line in block.split("\n") if line and not line.startswith(":")]
        data = "\n".join(value for field, value in lines if field == "data")
        names = [value for field, value in lines if field == "event"]
        if data:
            found.append((names[-1] if names else "message", json.loads(data)))
    return found


def test_an_answer_comes_with_its_citation(web: httpx.Client) -> None:
    answer = Answer.model_validate(web.post("/ask", json={"question": WHEN}).raise_for_status().json())
    (citation,) = answer.citations
    assert answer.text == "1952"
    assert citation.quote == "In 1952 she restored the fresco of Saint Anne."
    whole = web.get(f"/documents/{citation.document_id}").json()["text"]
    assert whole[citation.start : citation.end] == citation.quote


def test_a_stream_shows_each_step_and_ends_with_the_same_answer(web: httpx.Client) -> None:
    response = web.get("/ask/stream", params={"question": WHEN})
    assert response.headers["content-type"].startswith("text/event-stream")
    found = events(response.text)
    assert [name for name, _ in found][:3] == ["stage", "evidence", "stage"]
    assert all(name == data["type"] for name, data in found)
    assert any(name == "pass" and "▒" in data["made"]["canvas"] for name, data in found)
    assert found[-1][0] == "answer"
    assert found[-1][1]["answer"]["text"] == web.post("/ask", json={"question": WHEN}).json()["text"]


def test_a_question_the_documents_do_not_answer_is_no_error(web: httpx.Client) -> None:
    answer = web.post("/ask", json={"question": "How far is the moon?"}).raise_for_status().json()
    assert answer["abstained"]


def test_a_follow_up_is_asked_in_full_within_its_session(web: httpx.Client) -> None:
    web.post("/ask", json={"question": "Who was Mira Holt?", "session": "one"}).raise_for_status()
    answer = web.post("/ask", json={"question": "When did she restore the fresco?", "session": "one"}).json()
    assert answer["trace"]["question"] == "When did Mira Holt restore the fresco?"
    assert answer["trace"]["asked"] == "When did she restore the fresco?"
    turns = web.get("/sessions/one").json()["turns"]
    assert [turn["asked"] for turn in turns] == ["Who was Mira Holt?", "When did she restore the fresco?"]
    assert [info["name"] for info in web.get("/sessions").json()["sessions"]] == ["one"]
    assert web.delete("/sessions/one").status_code == 200
    assert web.get("/sessions/one").status_code == 404


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"question": ""}, "says nothing"),
        ({"question": "  \n"}, "says nothing"),
        ({}, "question: Field required"),
        ({"question": 3}, "question"),
        ({"question": "x" * 4001}, "4,001 characters"),
        ({"question": "Who?", "session": "../../etc"}, "can't be a session's name"),
        ({"question": "Who?", "where": {"a": [1]}}, "where"),
        ({"question": "Who?", "nonsense": 1}, "nonsense"),
        ({"question": "Who?", "seed": -1}, "seed"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(web: httpx.Client, body: dict[str, Any], says: str) -> None:
    response = web.post("/ask", json=body)
    assert response.status_code == 400
    assert says in response.json()["error"]["message"]
    assert response.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b"1e999"])
def test_a_body_that_is_no_question_is_refused(web: httpx.Client, body: bytes) -> None:
    response = web.post("/ask", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["message"]


def test_half_a_surrogate_pair_in_the_address_is_answered(web: httpx.Client) -> None:
    assert web.get("/ask/stream?question=%ED%A0%80+fresco").status_code == 200


@pytest.mark.parametrize("where", ["{", "[]", '{"a": {}}', "[" * 5000])
def test_conditions_that_are_no_object_are_refused(web: httpx.Client, where: str) -> None:
    response = web.get("/ask/stream", params={"question": WHEN, "where": where})
    assert response.status_code == 400
    assert "Write it like" in response.json()["error"]["message"]


def test_conditions_narrow_the_documents(web: httpx.Client) -> None:
    answer = web.post("/ask", json={"question": WHEN, "where": {"year": 1990}}).json()
    assert answer["trace"]["stopped"] == "nothing found"


def test_every_answer_names_its_request(web: httpx.Client) -> None:
    given = web.post("/ask", json={"question": WHEN}, headers={"x-request-id": "mine-7"})
    assert given.headers["x-request-id"] == given.json()["trace"]["request_id"] == "mine-7"
    odd = web.get("/health", headers={"x-request-id": "a b\tc"})
    assert odd.headers["x-request-id"] != "a b\tc"


def test_counts_can_be_scraped(web: httpx.Client) -> None:
    web.post("/ask", json={"question": WHEN})
    web.get("/nowhere/at/all")
    text = web.get("/metrics").text
    assert 'remask_http_requests_total{method="POST",route="/ask",status="200"}' in text
    assert 'remask_answers_total{outcome="answered"}' in text
    assert 'route="other"' in text
    assert "nowhere" not in text
    assert "remask_passages 3.0" in text


def test_a_server_that_runs_is_healthy_and_ready(web: httpx.Client) -> None:
    assert web.get("/health").json() == {"status": "ok"}
    assert web.get("/ready").json()["ready"] is True


def test_an_address_that_is_not_there_gets_an_error_of_the_same_shape(web: httpx.Client) -> None:
    for response, code in [(web.get("/nowhere"), "not_found"), (web.put("/ask"), "method_not_allowed")]:
        assert response.json()["error"]["code"] == code


def test_a_model_that_fails_is_told_before_and_within_a_stream() -> None:
    def broken(prompt: Any) -> Any:
        raise GenerationFailed("no numbers came out")

    with client(service_over(in_memory(), ScriptedGenerator(broken))) as web:
        response = web.post("/ask", json={"question": WHEN})
        assert response.status_code == 502
        assert "no numbers came out" in response.json()["error"]["message"]
        name, data = events(web.get("/ask/stream", params={"question": WHEN}).text)[-1]
        assert (name, data["error"]["code"]) == ("error", "model_failed")


def test_a_mistake_of_ours_tells_clients_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    def broken(prompt: Any) -> Any:
        raise ZeroDivisionError("secret/path")

    with client(service_over(in_memory(), ScriptedGenerator(broken))) as web:
        response = web.post("/ask", json={"question": WHEN})
        assert response.status_code == 500
        assert "secret" not in response.text
        streamed = web.get("/ask/stream", params={"question": WHEN}).text
        assert "internal_error" in streamed
        assert "secret" not in streamed
    assert "ZeroDivisionError" in caplog.text


def test_two_questions_with_one_seed_have_one_answer(web: httpx.Client) -> None:
    first, second = (web.post("/ask", json={"question": WHEN, "seed": 3}).json() for _ in range(2))
    assert first["trace"]["seed"] == second["trace"]["seed"] == 3
    assert first["text"] == second["text"] == "1952"


def test_questions_in_several_threads_share_passes_and_get_the_answers_they_get_alone() -> None:
    asked = [WHEN, "What did she restore in 1952?", "Who restored the fresco?", WHEN]
    reader = EmbeddedReader.load()
    with client(service_over(in_memory(), reader)) as web:
        alone = [web.post("/ask", json={"question": question}).json()["text"] for question in asked]
    with client(service_over(in_memory(), reader, threads=3)) as web, ThreadPoolExecutor(4) as pool:
        both = [pool.submit(web.post, "/ask", json={"question": question}) for question in asked]
        assert [one.result().json()["text"] for one in both] == alone
    gathering = reader.share_passes()
    assert gathering.wanted >= gathering.made > 0
