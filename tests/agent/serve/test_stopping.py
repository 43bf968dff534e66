"""Queues, time, and clients that leave: the model works only for those who are still there."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import pytest
from remask.agent.events import AnswerReady
from remask.agent.serve.errors import TooBusy, Unservable
from remask.agent.serve.options import ServeOptions
from remask.agent.serve.server import check_reach, listening
from remask.agent.serve.service import Question
from remask.agent.serve.turns import Turns

from .running import WHEN, Gated, client, in_folder, in_memory, served, service_over, until, wire

ASK = {"question": WHEN}


def test_a_full_queue_is_said_at_once_with_when_to_come_back() -> None:
    model = Gated()
    service = service_over(in_memory(), model, running=1, waiting=1)
    with client(service) as web, ThreadPoolExecutor(2) as pool:
        first = pool.submit(web.post, "/ask", json=ASK)
        until(lambda: model.asked == 1)
        second = pool.submit(web.post, "/ask", json=ASK)
        until(lambda: service.turns.waiting == 1)
        refusals = [
            web.post("/ask", json=ASK),
            web.get("/ask/stream", params=ASK),
            web.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": WHEN}], "stream": True}),
            web.post("/v1/embeddings", json={"input": "a"}),
        ]
        assert [r.status_code for r in refusals] == [503] * 4
        assert all(int(r.headers["retry-after"]) >= 1 for r in refusals)
        assert web.get("/ready").status_code == 503
        assert web.get("/health").status_code == 200
        model.let_through.set()
        assert [f.result().json()["text"] for f in (first, second)] == ["1952", "1952"]


def test_questions_share_the_model_pass_by_pass() -> None:
    """With one thread that steps, two questions are under way at once, and neither waits for the other to end."""
    model = Gated()
    with client(service_over(in_memory(), model, running=2, threads=1)) as web, ThreadPoolExecutor(2) as pool:
        both = [pool.submit(web.post, "/ask", json=ASK) for _ in range(2)]
        until(lambda: model.asked == 2)
        assert model.closed == 0
        model.let_through.set()
        assert [f.result().json()["text"] for f in both] == ["1952", "1952"]


@pytest.mark.asyncio
async def test_an_answer_ends_without_waiting_behind_the_steps_of_others() -> None:
    service, busy = service_over(in_memory()), threading.Event()
    service.start()
    try:
        async with asyncio.timeout(10):
            async for event in service.events(Question(text=WHEN)):
                if isinstance(event, AnswerReady):
                    _ = asyncio.get_running_loop().run_in_executor(None, busy.wait, 60)
        assert service.turns.running == 0
    finally:
        busy.set()
        service.stop()


MESSAGES = {"messages": [{"role": "user", "content": WHEN}]}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/ask/stream?question={WHEN.replace(' ', '+')}", None),
        ("POST", "/ask", ASK),
        ("POST", "/v1/chat/completions", MESSAGES),
        ("POST", "/v1/chat/completions", {**MESSAGES, "stream": True}),
    ],
)
def test_the_model_stops_when_the_client_leaves(method: str, path: str, body: object) -> None:
    model = Gated()
    service = service_over(in_memory(), model)
    with served(service) as address:
        with wire(address) as line:
            said = json.dumps(body).encode() if body else b""
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            line.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(said) + said)
            until(lambda: model.asked == 1)
        until(lambda: model.closed == 1)
        made = model.made
        time.sleep(0.1)
        assert model.made == made < 200
        until(lambda: (service.turns.running, service.turns.waiting) == (0, 0))
        until(lambda: "remask_cancelled_total 1.0" in httpx.get(f"{address}/metrics", trust_env=False).text)


def test_a_client_that_leaves_the_queue_costs_nothing() -> None:
    model = Gated()
    service = service_over(in_memory(), model, running=1)
    with client(service) as web, ThreadPoolExecutor(1) as pool:
        first = pool.submit(web.post, "/ask", json=ASK)
        until(lambda: model.asked == 1)
        with pytest.raises(httpx.TimeoutException):
            web.post("/ask", json=ASK, timeout=0.3)
        until(lambda: service.turns.waiting == 0)
        model.let_through.set()
        assert first.result().json()["text"] == "1952"
        assert model.asked == 1


def test_an_answer_that_takes_too_long_is_cut_short_and_told() -> None:
    model = Gated()
    with client(service_over(in_memory(), model, request_seconds=0.3)) as web:
        response = web.post("/ask", json=ASK)
        assert (response.status_code, response.json()["error"]["code"]) == (504, "out_of_time")
        streamed = web.get("/ask/stream", params=ASK).text
        assert "event: error" in streamed
        assert "out_of_time" in streamed
        until(lambda: model.closed == 2)


def test_a_server_that_stops_lets_answers_end() -> None:
    model = Gated()
    service = service_over(in_memory(), model, shutdown_seconds=10)
    with ThreadPoolExecutor(1) as pool:
        with served(service) as address:
            asking = pool.submit(httpx.post, f"{address}/ask", json=ASK, trust_env=False)
            until(lambda: model.asked == 1)
            threading.Timer(0.3, model.let_through.set).start()
        assert asking.result().json()["text"] == "1952"


def test_a_server_that_stops_does_not_wait_for_ever() -> None:
    model = Gated()
    begin = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        with served(service_over(in_memory(), model, shutdown_seconds=0.5)) as address:
            asking = pool.submit(httpx.post, f"{address}/ask", json=ASK, trust_env=False)
            until(lambda: model.asked == 1)
        assert model.closed == 1
        assert asking.exception() is not None or asking.result().status_code >= 500
    assert time.monotonic() - begin < 15


def test_the_program_serves_and_ends_when_told(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "index")
    command = [sys.executable, "-m", "remask.agent.cli", "serve", "--index", str(folder), "--port", "0", "--read-only"]
    start = "import sys; from remask.agent.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, *command[3:]]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next(one for one in process.stderr if "http://" in one)
            address = line.split()[1]
            answer = httpx.post(f"{address}/ask", json=ASK, timeout=120, trust_env=False).json()
            assert answer["text"] == "1952"
            assert answer["trace"]["generator"] == "embedded"
            logged = next(one for one in process.stderr if '"route": "/ask"' in one)
            assert '"status": 200' in logged
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == -signal.SIGTERM
        finally:
            process.kill()


def test_another_machine_is_not_served_without_a_key_by_mistake() -> None:
    with pytest.raises(Unservable, match="--keys-file"):
        check_reach(ServeOptions(host="0.0.0.0"), keys=False)
    check_reach(ServeOptions(host="0.0.0.0"), keys=True)
    check_reach(ServeOptions(host="0.0.0.0", anyone=True), keys=False)


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unservable, match=f"can't listen on 127.0.0.1:{port}"):
            listening(ServeOptions(port=port))


def test_small_packets_are_sent_at_once() -> None:
    with listening(ServeOptions(port=0)) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.asyncio
async def test_turns_are_taken_in_order_and_given_back() -> None:
    turns = Turns(1, 1)
    async with turns.taken():
        assert (turns.running, turns.waiting) == (1, 0)
        turns.check()
    with pytest.raises(ZeroDivisionError):
        async with turns.taken():
            raise ZeroDivisionError
    assert (turns.running, turns.waiting) == (0, 0)
    none = Turns(1, 0)
    async with none.taken():
        with pytest.raises(TooBusy, match="Ask again in"):
            none.check()


def test_a_missing_library_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from remask.agent.console import CommandError
    from remask.agent.serve.command import serve

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "remask.agent.serve.server")
    with pytest.raises(CommandError, match=r"serving needs uvicorn.*pip install 'remask\[serve\]'"):
        serve(index=Path("somewhere"))
