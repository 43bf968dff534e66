"""A chat server on the loopback that plays what it is told, well or badly. Good chunks are the official client's own types."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk


class Received(NamedTuple):
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Out:
    """The answer to one request."""

    def __init__(self, handler: "_Handler") -> None:
        self._handler, self.server = handler, handler.server.played

    def json(self, held: object, status: int = 200, **headers: str) -> None:
        self.page(json.dumps(held).encode(), status, "application/json", **headers)

    def page(self, content: bytes, status: int = 200, kind: str = "text/html", **headers: str) -> None:
        self.head(kind, status, **headers, Content_Length=str(len(content)))
        self.raw(content)

    def head(self, kind: str = "text/event-stream", status: int = 200, **headers: str) -> None:
        self._handler.send_response(status)
        for name, value in {"Content_Type": kind, **headers}.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.send_header("Connection", "close")  # as it does: else a client may send into a closed connection
        self._handler.end_headers()

    def raw(self, content: bytes) -> None:
        self._handler.wfile.write(content)
        self._handler.wfile.flush()

    def stall(self, keep_alive: float | None = None) -> None:
        """Until the client leaves or the test is over."""
        while not self.server.over.is_set():
            if select.select([self._handler.connection], [], [], keep_alive or 0.02)[0]:
                if not self._handler.connection.recv(1, socket.MSG_PEEK):
                    self.server.left.set()
                    return
            elif keep_alive:
                self.raw(b": keep-alive\n\n")

    def hang_up(self) -> None:
        self._handler.connection.shutdown(socket.SHUT_RDWR)


Turn = Callable[[Received, Out], None]


class Server:
    """`turns` are played one a request, the last again and again. `received` are the requests to the chat."""

    def __init__(self, turns: Sequence[Turn], models: Sequence[str]) -> None:
        self.turns, self.models = list(turns), list(models)
        self.received: list[Received] = []
        self.left, self.over = threading.Event(), threading.Event()
        self.url, self._lock = "", threading.Lock()

    @property
    def name(self) -> str:
        return f"openai:{self.url}#m"

    def play(self, received: Received, out: Out) -> None:
        if received.path == "/v1/models":
            return out.json({"object": "list", "data": [{"id": model, "object": "model"} for model in self.models]})
        with self._lock:
            turn = self.turns[min(len(self.received), len(self.turns) - 1)]
            self.received.append(received)
        return turn(received, out)


_OURS = ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


@contextmanager
def serving(*turns: Turn, models: Sequence[str] = ("m",)) -> Iterator[Server]:
    """Whoever runs the tests may have a key and a proxy; neither is used."""
    played = Server(turns, models)
    with pytest.MonkeyPatch.context() as environment:
        for name in _OURS:
            environment.delenv(name, raising=False)
        with _running(played):
            yield played


@contextmanager
def _running(played: Server) -> Iterator[None]:
    with _Threads(("127.0.0.1", 0), _Handler) as http:
        http.played = played
        played.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            played.over.set()
            http.shutdown()
            thread.join()


class _Threads(ThreadingHTTPServer):
    played: Server
    daemon_threads = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave early are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    server: _Threads
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: dict[str, Any]) -> None:
        self.close_connection = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.played.play(Received(self.path, headers, body), Out(self))

    def log_message(self, *_: Any) -> None:
        pass


# What a sound server sends.


def chunk(
    content: str | None = None, *, finish: str | None = None, calls: Sequence[Mapping[str, Any]] = (), **choice: Any
) -> bytes:
    delta: dict[str, Any] = {} if content is None else {"content": content}
    delta |= {"tool_calls": list(calls)} if calls else {}
    made = ChatCompletionChunk.model_validate(
        {
            "id": "c",
            "created": 1,
            "model": "m",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **choice}],
        }
    )
    return f"data: {made.model_dump_json(exclude_unset=True)}\n\n".encode()


USAGE = (
    b'data: {"id":"c","created":1,"model":"m","object":"chat.completion.chunk","choices":[],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}\n\n'
)
DONE = b"data: [DONE]\n\n"


def streams(*pieces: str, finish: str = "stop") -> Turn:
    """Appends the pieces, as OpenAI's servers do, or replaces by each, as Mercury does: it depends on what was asked."""

    def turn(_: Received, out: Out) -> None:
        out.head()
        for piece in pieces:
            out.raw(chunk(piece))
        out.raw(chunk(finish=finish) + USAGE + DONE)

    return turn


def sends(*parts: bytes) -> Turn:
    """Raw bytes of a stream, each part by itself, then the end of the connection."""

    def turn(_: Received, out: Out) -> None:
        out.head()
        for part in parts:
            out.raw(part)

    return turn


def refuses(status: int, error: object = "no", **headers: str) -> Turn:
    held = error if isinstance(error, Mapping) else {"message": error}
    return lambda _, out: out.json({"error": held}, status, **headers)


def completes(content: str | None, *, calls: Sequence[tuple[str, str]] = (), finish: str = "stop") -> Turn:
    """A whole completion."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ]
    made = ChatCompletion.model_validate(
        {
            "id": "c",
            "created": 1,
            "model": "m",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        }
    )
    return lambda _, out: out.json(made.model_dump(mode="json", exclude_unset=True))
