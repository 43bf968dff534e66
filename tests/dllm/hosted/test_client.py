"""A server that misbehaves, in each way that servers do, and what a caller sees of it."""

import gc
import time
from types import AsyncGeneratorType

import pytest
from remask.dllm.draft import Evidence, Prompt, finish
from remask.dllm.errors import BackendUnavailable, GenerationFailed, ModelError
from remask.dllm.hosted.client import Patience
from remask.dllm.hosted.generator import HostedGenerator

from .server import DONE, USAGE, Out, Received, Turn, chunk, completes, refuses, sends, serving, streams

PROMPT = Prompt("Who built it?", (Evidence("Mira Holt built it in 1871."),))
WHOLE = chunk("Mira Hölt ✓") + chunk(finish="stop") + USAGE + DONE


def asked(url: str, **patience: float) -> str:
    given: dict[str, float] = {"connect": 60.0, "first": 60.0, "stall": 60.0, "backoff": 0.001} | patience
    generator = HostedGenerator.openai(f"{url}#m", patience=Patience(**given, retries=2))
    return finish(generator.draft(PROMPT))[0].text


# Streams.


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_stream_survives_being_cut_anywhere(size: int) -> None:
    # Letters of two and three bytes are cut too.
    parts = [WHOLE[at : at + size] for at in range(0, len(WHOLE), size)]
    with serving(sends(*parts)) as server:
        assert asked(server.url) == "Mira Hölt ✓"


@pytest.mark.parametrize(
    "parts",
    [
        (b": keep-alive\n\n", WHOLE),
        (b":\n\n: ping\n", WHOLE.replace(b"\n\n", b"\n\n: OPENROUTER PROCESSING\n\n")),
        (WHOLE.replace(b"\n", b"\r\n"),),
        (WHOLE.replace(b"data: ", b"event: message\nid: 7\nretry: 10\ndata:"),),
        (b"\xef\xbb\xbf", WHOLE),
        (WHOLE.removesuffix(DONE),),
        (b"data: \n\n", WHOLE),
        (chunk("Mira "), b'data: {"id":"c","choices":[]}\n\n', chunk("H\u00f6lt \u2713", finish="stop"), DONE),
    ],
)
def test_a_stream_survives_keep_alives_and_the_dialects_of_event_streams(parts: tuple[bytes, ...]) -> None:
    with serving(sends(*parts)) as server:
        assert asked(server.url) == "Mira Hölt ✓"


def test_a_stream_that_names_a_wrong_character_set_is_read_as_the_standard_says() -> None:
    def turn(_: Received, out: Out) -> None:
        out.head("text/event-stream; charset=latin-1")
        out.raw(WHOLE)

    with serving(turn) as server:
        assert asked(server.url) == "Mira Hölt ✓"


def test_a_server_that_stalls_in_the_middle_is_left_with_the_reason() -> None:
    def stall(_: Received, out: Out) -> None:
        out.head()
        out.raw(chunk("Mira"))
        out.stall(keep_alive=0.05)

    with serving(stall) as server:
        begun = time.monotonic()
        with pytest.raises(GenerationFailed, match=r"said nothing for 0\.3 s"):
            asked(server.url, stall=0.3)
        assert time.monotonic() - begun < 30
        assert server.left.wait(60.0)


def test_a_server_that_never_begins_is_left() -> None:
    with (
        serving(lambda _, out: out.stall()) as server,
        pytest.raises(GenerationFailed, match=r"said nothing for 0\.2 s"),
    ):
        asked(server.url, first=0.2)


def test_an_answer_without_end_is_left() -> None:
    def endless(_: Received, out: Out) -> None:
        out.head()
        while not out.server.over.is_set():
            out.raw(chunk("more "))
            time.sleep(0.01)

    with serving(endless) as server, pytest.raises(GenerationFailed, match=r"did not end within 0\.3 s"):
        asked(server.url, whole=0.3)


@pytest.mark.parametrize(
    "turn",
    [
        sends(b"data: <html>\n\n"),
        sends(b'data: {"id": 1\n\n'),
        sends(b"data: 42\n\n"),
        sends(b'data: {"choices": "none"}\n\n'),
        sends(b'data: {"choices": [{"delta": "Mira"}]}\n\n'),
        lambda _, out: out.page(b"<html>Welcome to nginx!</html>"),
        lambda _, out: out.page(b"\xff\xfe\x00", kind="application/octet-stream"),
        lambda _, out: out.json({"status": "ok"}),
        lambda _, out: out.json(["Mira"]),
    ],
)
def test_nonsense_is_quoted_in_the_error(turn: Turn) -> None:
    with serving(turn) as server, pytest.raises(GenerationFailed, match="sent no chat completion but"):
        asked(server.url)


# Trying again.


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_refusal_that_may_pass_is_tried_again(status: int) -> None:
    with serving(refuses(status), refuses(status), streams("Mira")) as server:
        assert asked(server.url) == "Mira"
        assert len(server.received) == 3


def test_a_refusal_that_stays_is_told_with_the_number_of_tries() -> None:
    with serving(refuses(503, "overloaded")) as server:
        with pytest.raises(BackendUnavailable, match=r"out of order in 3 tries \(503: overloaded\)"):
            asked(server.url)
        assert len(server.received) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 422])
def test_a_refusal_that_will_not_pass_is_told_at_once(status: int) -> None:
    with serving(refuses(status)) as server:
        with pytest.raises((BackendUnavailable, GenerationFailed)):
            asked(server.url)
        assert len(server.received) == 1


def test_a_model_that_is_not_there_is_told_with_those_that_are() -> None:
    says = pytest.raises(BackendUnavailable, match=r"no model 'm'.*It has 'llada2', 'sdar'")
    with serving(refuses(404, "no such model"), models=["llada2", "sdar"]) as server, says:
        asked(server.url)


def test_a_kept_connection_that_was_closed_costs_the_list_of_models_nothing() -> None:
    with serving(streams("Mira"), models=["m"]) as server:
        answer, lost = server.play, []

        def once_lost(received: Received, out: Out) -> None:
            if lost:
                return answer(received, out)
            lost.append(received)
            return out.hang_up()

        server.play = once_lost  # type: ignore[method-assign]
        assert "has 'm'" in HostedGenerator.openai(f"{server.url}#m").looked_at()
    assert [received.path for received in lost] == ["/v1/models"]


def test_a_server_that_says_when_to_come_back_is_heeded() -> None:
    with serving(refuses(429, Retry_After="0.4"), streams("Mira")) as server:
        begun = time.monotonic()
        assert asked(server.url) == "Mira"
        assert time.monotonic() - begun >= 0.4


def test_a_server_that_wants_too_long_a_wait_is_given_up_at_once() -> None:
    with serving(refuses(429, Retry_After="3600")) as server:
        with pytest.raises(BackendUnavailable, match="in 3600 s as it says"):
            asked(server.url)
        assert len(server.received) == 1


def lost(after: bytes = b"") -> Turn:
    def turn(_: Received, out: Out) -> None:
        if after:
            out.head()
            out.raw(after)
        out.hang_up()

    return turn


@pytest.mark.parametrize("first", [lost(), lost(chunk("Mi")), sends(chunk("Mi"))])
def test_a_lost_connection_begins_the_answer_anew(first: Turn) -> None:
    with serving(first, streams("Mira")) as server:
        assert asked(server.url) == "Mira"
        assert len(server.received) == 2


def test_a_connection_that_is_always_lost_is_told() -> None:
    with serving(lost(chunk("Mi"))) as server, pytest.raises(BackendUnavailable, match=r"in 3 tries\. Try again later"):
        asked(server.url)


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(streams("x")) as server:
        url = server.url
    with pytest.raises(BackendUnavailable, match=rf"nothing answers at {url}"):
        asked(url)


def test_a_stream_that_is_given_up_is_closed_though_its_error_is_kept() -> None:
    """An error holds on to the frames it came through. A stream left open in one of them is closed when garbage is
    collected, by whichever thread does that, and perhaps in the middle of a step of its own."""

    def turn(_: Received, out: Out) -> None:
        out.head()
        out.raw(chunk("Mira") + b'data: {"error": {"code": 400, "message": "no more"}}\n\n')
        out.stall()

    gc.disable()
    try:
        before = suspended()
        with serving(turn) as server:
            with pytest.raises(ModelError) as kept:
                asked(server.url)
            assert server.left.wait(30.0)
            end = time.monotonic() + 30.0
            while (left_open := suspended() - before) and time.monotonic() < end:
                time.sleep(0.01)
            assert not left_open, kept
    finally:
        gc.enable()


def suspended() -> set[str]:
    """Asynchronous generators that were begun and not ended, described: held themselves, they would not be closed.
    Other objects aren't asked anything: some warn when they are asked for their class."""
    found = [one for one in gc.get_objects() if issubclass(type(one), AsyncGeneratorType)]
    return {repr(one) for one in found if one.ag_frame is not None}


def test_an_error_in_the_middle_of_a_stream_is_judged_like_any_other() -> None:
    overloaded = b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'
    with serving(sends(chunk("Mi"), overloaded), streams("Mira")) as server:
        assert asked(server.url) == "Mira"
    bad = b'data: {"error": {"message": "bad", "code": 400}}\n\n'
    with serving(sends(chunk("Mi"), bad)) as server, pytest.raises(GenerationFailed, match="bad"):
        asked(server.url)


# Fields that a server does not take.


def test_an_optional_field_that_is_refused_is_not_sent_again() -> None:
    def picky(received: Received, out: Out) -> None:
        for field in ("logprobs", "seed", "max_tokens"):
            if field in received.body:
                return refuses(400, f"Unsupported parameter: '{field}'")(received, out)
        return streams("Mira")(received, out)

    with serving(picky) as server:
        generator = HostedGenerator.openai(f"{server.url}#m")
        assert finish(generator.draft(PROMPT))[0].text == "Mira"
        assert len(server.received) == 4
        assert server.received[-1].body["max_completion_tokens"] == 512
        finish(generator.draft(PROMPT))
        assert len(server.received) == 5


def test_a_template_without_system_turns_is_told_by_the_user() -> None:
    def gemma(received: Received, out: Out) -> None:
        if received.body["messages"][0]["role"] == "system":
            return refuses(400, "System role not supported")(received, out)
        return streams("Mira")(received, out)

    with serving(gemma) as server:
        assert asked(server.url) == "Mira"
        (turn,) = server.received[-1].body["messages"]
    assert turn["content"].startswith("Answer the question from the numbered evidence")
    assert turn["content"].endswith("Question: Who built it?")


# Answers that are none.


@pytest.mark.parametrize(
    ("turn", "says"),
    [
        (streams("", finish="length"), "spent all its tokens on thinking"),
        (streams("<think>well", finish="length"), "spent all its tokens on thinking"),
        (streams(""), "answered with nothing"),
        (completes(None), "answered with nothing"),
        (streams("Mi", finish="content_filter"), "content filter"),
        (
            sends(b'data: {"choices":[{"delta":{"refusal":"I can\'t."},"finish_reason":"stop"}]}\n\n', DONE),
            "declined: I can't",
        ),
    ],
)
def test_an_answer_that_is_none_says_why(turn: Turn, says: str) -> None:
    with serving(turn) as server, pytest.raises(GenerationFailed, match=says):
        asked(server.url)


def test_an_answer_that_was_cut_off_is_what_there_is() -> None:
    with serving(streams("Mira Holt [1", finish="length")) as server:
        assert asked(server.url) == "Mira Holt"
