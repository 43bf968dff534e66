"""What a refusal means: read off real servers' messages, word for word as they send them."""

import json
from datetime import UTC, datetime

import pytest
from remask.dllm.errors import BackendUnavailable, GenerationFailed, ModelError, PromptTooLong
from remask.dllm.hosted.endpoint import Endpoint, mercury, openai
from remask.dllm.hosted.failure import Refusal, judged, wait_seconds

LOCAL = openai("http://127.0.0.1:8000/v1#m", environment={})
KEYED = openai("https://example.org/v1#m", environment={"OPENAI_API_KEY": "sk-verysecret"})


def refusal(status: int, message: str, **fields: object) -> Refusal:
    return Refusal(status, json.dumps({"error": {"message": message, **fields}}), {})


@pytest.mark.parametrize(
    ("message", "limit", "asked"),
    [
        ("This model's maximum context length is 600 tokens. However, your request has 953 input tokens.", 600, 953),
        ("The input (600 tokens) is longer than the model's context length (512 tokens).", 512, 600),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 512 tokens"
            " and your request has 600 input tokens (1024 > 512 - 600).",
            512,
            600,
        ),
        (
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the"
            " messages, 10000 in the completion).",
            16384,
            122946,
        ),
        ("request (8219 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 8219),
        ("Input length (5000) exceeds the model's maximum context length (4096).", 4096, 5000),
        ("Input is too long for requested model", None, None),
    ],
)
def test_an_overflow_is_known_in_every_servers_words(message: str, limit: int | None, asked: int | None) -> None:
    error = judged(refusal(400, message), LOCAL)
    assert isinstance(error, PromptTooLong)
    assert (error.limit, error.asked) == (limit, asked)
    assert not refusal(400, message).names("max_tokens")


@pytest.mark.parametrize(
    ("status", "fields", "endpoint", "kind", "says"),
    [
        (401, {}, LOCAL, BackendUnavailable, "asks for a key.*Set OPENAI_API_KEY"),
        (401, {}, KEYED, BackendUnavailable, "does not take the key.*Check OPENAI_API_KEY"),
        (403, {}, KEYED, BackendUnavailable, "does not take the key"),
        (404, {}, LOCAL, BackendUnavailable, "has no model 'm'.*/models"),
        (429, {}, LOCAL, BackendUnavailable, "too busy in 4 tries.*Try again later"),
        (429, {"code": "insufficient_quota"}, LOCAL, BackendUnavailable, "no credit left"),
        (402, {}, LOCAL, BackendUnavailable, "no credit left"),
        (503, {}, LOCAL, BackendUnavailable, "out of order"),
        (400, {}, LOCAL, GenerationFailed, r"refused the request \(400: why\)"),
    ],
)
def test_each_status_says_what_to_do(
    status: int, fields: dict[str, object], endpoint: Endpoint, kind: type[ModelError], says: str
) -> None:
    error = judged(refusal(status, "why", **fields), endpoint, tries=4)
    assert type(error) is kind
    with pytest.raises(kind, match=says):
        raise error


def test_no_message_shows_the_key() -> None:
    for said in ("Incorrect API key provided: sk-verysecret.", "Incorrect API key provided: sk-ve****cret. See"):
        message = str(judged(refusal(401, said), KEYED))
        assert "sk-ve" not in message
        assert "cret" not in message
    assert "verysecret" not in repr(KEYED)
    hidden = openai("http://me:pass@example.org/v1#m", environment={})
    assert "pass" not in str(judged(refusal(404, "no"), hidden))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<html><h1>Bad gateway</h1></html>", "a page, not JSON"),
        ("", "no message"),
        ('{"detail": "Not Found"}', "Not Found"),
        ('{"error": "nope"}', "nope"),
        ('{"object": "error", "message": "top"}', "top"),
        ("[1]", "[1]"),
        ("x" * 5000, "xxx…"),
    ],
)
def test_a_message_is_found_wherever_a_server_puts_it(body: str, shown: str) -> None:
    message = str(judged(Refusal(418, body, {}), LOCAL))
    assert shown in message
    assert len(message) < 500


def test_a_refused_field_is_known_by_its_name() -> None:
    assert refusal(400, "Unsupported parameter", param="logprobs").names("logprobs")
    assert refusal(400, "json_schema is not supported for diffusion").names("response_format", ("json_schema",))
    assert refusal(403, "You are not allowed to request logprobs from this model").names("logprobs")
    assert not refusal(400, "bad", param="messages[0].seed").names("seed")
    assert not refusal(429, "seed").names("seed")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "Wed, 02 Dec 2026 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 02 Dec 2026 07:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_seconds(headers, now=datetime(2026, 12, 2, 8, 0, 0, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("argument", "url"),
    [
        ("http://127.0.0.1:8000#m", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/#m", "http://127.0.0.1:8000/v1"),
        ("https://example.org/v1/#m", "https://example.org/v1"),
        ("https://example.org/api/v2/chat/completions#org/m", "https://example.org/api/v2"),
    ],
)
def test_an_address_is_taken_with_or_without_its_version(argument: str, url: str) -> None:
    assert openai(argument, environment={}).url == url


@pytest.mark.parametrize("argument", ["http://a/v1", "http://a/v1#", "http://a/v1# "])
def test_a_model_that_is_not_named_is_asked_for(argument: str) -> None:
    with pytest.raises(BackendUnavailable, match="names no model"):
        openai(argument, environment={})


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://a/v1", "http://", "http://a:x/v1", "http://a/v1?b", "/v1"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BackendUnavailable, match="no address of a server"):
        openai(f"{url}#m", environment={})


def test_a_key_that_is_missing_is_asked_for_by_its_variable() -> None:
    with pytest.raises(BackendUnavailable, match="INCEPTION_API_KEY"):
        mercury("mercury-2", environment={"OPENAI_API_KEY": "x"})
    with pytest.raises(BackendUnavailable, match="OPENAI_API_KEY"):
        openai("https://api.openai.com/v1#gpt", environment={})
    with pytest.raises(BackendUnavailable, match="blanks or letters"):
        mercury("mercury-2", environment={"INCEPTION_API_KEY": "a b\n"})
    assert mercury("m", environment={"INCEPTION_API_KEY": " k "}).key == "k"
    assert mercury("m", environment={"INCEPTION_API_KEY": "k"}).url == "https://api.inceptionlabs.ai/v1"
