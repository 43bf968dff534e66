"""A real server on this machine's own address, over a real index, for the length of a test."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
from remask.agent.options import AgentOptions
from remask.agent.serve.keys import Keys
from remask.agent.serve.options import ServeOptions
from remask.agent.serve.server import listening, server
from remask.agent.serve.service import Service
from remask.dllm.draft import CanvasPass, Draft, Generator, Passes, Prompt
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import HashEmbedder, Index, build

from ..shelf import LIBRARY

WHEN = "When did Mira Holt restore the fresco of Saint Anne?"


def dated(prompt: Prompt) -> Draft:
    """What a reader that knows its business drafts when it is asked of the fresco, and finds it in the evidence."""
    asked = "fresco" in prompt.question and any("1952" in evidence.text for evidence in prompt.evidence)
    return pointing(prompt, "1952") if asked else Draft("", kind="none", answerable=0.0)


class Gated(ScriptedGenerator):
    """Its first pass waits until it is let through; `asked` tells how many drafts began, `closed` how many ended."""

    def __init__(self) -> None:
        super().__init__(dated)
        self.let_through = threading.Event()
        self.asked = self.made = self.closed = 0

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        self.asked += 1
        try:
            for index in range(1, 200):
                self.made += 1
                yield CanvasPass(index, "▒", 0, 1)
                if self.let_through.wait(0.02):
                    break
            return [dated(prompt)]
        finally:
            self.closed += 1


def service_over(
    index: Index | Path, generator: Generator | None = None, *, keys: tuple[str, ...] = (), **options: Any
) -> Service:
    opened = Index.open(index) if isinstance(index, Path) else index
    return Service(
        opened,
        generator or ScriptedGenerator(dated),
        options=ServeOptions(port=0, **options),
        agent_options=AgentOptions(),
        keys=Keys.of(keys),
        saved=isinstance(index, Path),
    )


def in_memory() -> Index:
    return Index.create(LIBRARY, embedder=HashEmbedder(16))


def in_folder(folder: Path) -> Path:
    build(LIBRARY, folder, embedder=HashEmbedder(16))
    return folder


@contextmanager
def served(service: Service) -> Iterator[str]:
    """The address, while it runs in a thread. The server must stop by itself when it is told to."""
    running = server(service)
    with listening(service.options) as listener:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            until(lambda: running.started)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            running.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server did not stop"


@contextmanager
def client(service: Service, **how: Any) -> Iterator[httpx.Client]:
    with served(service) as address, httpx.Client(base_url=address, trust_env=False, timeout=30, **how) as one:
        yield one


def wire(address: str, *, wait: float = 10) -> socket.socket:
    """A bare connection, for what no proper client would send."""
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=wait)


def until(true: Any, seconds: float = 15) -> None:
    """Waits until it is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to be so"
        time.sleep(0.01)
