"""The published questions, fetched from a server on this machine that can be made to break off."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.evals.download import HOTPOTQA, Published, downloaded, published
from remask.evals.errors import DownloadFailed

from .sheets import ROWS

DATA = json.dumps(list(ROWS)).encode()
HASH = hashlib.sha256(DATA).hexdigest()


class Place(BaseHTTPRequestHandler):
    """`breaks` is after how many bytes an answer ends early; `ranges` whether it can go on."""

    breaks, ranges = 0, True
    asked: list[str]

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.asked.append(wanted)
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        if self.path != "/dev.json" or begin > len(DATA):
            self.send_error(404 if begin <= len(DATA) else 416)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(DATA) - begin))
        self.end_headers()
        self.wfile.write(DATA[begin : self.breaks or None])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def place(*, breaks: int = 0, ranges: bool = True) -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    kind = type("Kind", (Place,), {"breaks": breaks, "ranges": ranges, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/dev.json", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_it_is_fetched_once_and_checked(tmp_path: Path) -> None:
    with place() as (url, asked):
        found = downloaded(tmp_path, Published(url, len(DATA), HASH))
        assert found.read_bytes() == DATA
        assert downloaded(tmp_path, Published(url, len(DATA), HASH)) == found
    assert asked == [""]
    assert [path.name for path in tmp_path.iterdir()] == ["dev.json"]


@pytest.mark.parametrize("ranges", [True, False])
def test_what_was_cut_off_goes_on_where_it_stopped_or_from_its_beginning(tmp_path: Path, ranges: bool) -> None:
    with place(breaks=100) as (url, _), pytest.raises(DownloadFailed, match="it broke off after 100 of"):
        downloaded(tmp_path, Published(url, len(DATA), HASH))
    assert (tmp_path / "dev.json.part").read_bytes() == DATA[:100]
    with place(ranges=ranges) as (url, asked):
        assert downloaded(tmp_path, Published(url, len(DATA), HASH)).read_bytes() == DATA
    assert asked == ["bytes=100-"]


def test_a_part_that_is_longer_than_the_file_is_fetched_anew(tmp_path: Path) -> None:
    (tmp_path / "dev.json.part").write_bytes(b"x" * (len(DATA) + 1))
    with place() as (url, asked):
        assert downloaded(tmp_path, Published(url, 0, HASH)).read_bytes() == DATA
    assert asked == [f"bytes={len(DATA) + 1}-", ""]


def test_another_file_than_the_published_one_is_thrown_away(tmp_path: Path) -> None:
    with place() as (url, _), pytest.raises(DownloadFailed, match=f"sha256 {HASH}, not {'0' * 64}"):
        downloaded(tmp_path, Published(url, len(DATA), "0" * 64))
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_it_says_what_to_do(tmp_path: Path) -> None:
    with place() as (url, _):
        gone = url
    with pytest.raises(DownloadFailed, match=r"can't be fetched .* give it with --data FILE"):
        downloaded(tmp_path, Published(gone, 0, HASH))
    with pytest.raises(DownloadFailed, match="must begin with http:// or https://"):
        downloaded(tmp_path, Published("file:///etc/hostname", 0, HASH))
    with place() as (url, _), pytest.raises(DownloadFailed, match="404"):
        downloaded(tmp_path, Published(f"{url}x", 0, HASH))


def test_the_command_without_data_fetches_it_and_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with place() as (url, _):
        given = ["eval", "hotpotqa", "--url", url, "--backend", "gold"]
        assert main([*given, "--sha256", HASH.upper()]) == 0
        assert main([*given, "--sha256", "beef"]) == 2
    assert (tmp_path / "runs/data/dev.json").exists()
    assert (
        json.loads((tmp_path / "runs/hotpotqa-distractor-dev/metrics.json").read_text())["settings"]["data_sha256"]
        == HASH
    )


def test_the_recorded_size_goes_with_the_recorded_hash_only() -> None:
    assert published(None, None) == HOTPOTQA
    assert published("http://mirror/dev.json", None) == Published("http://mirror/dev.json", 0, HOTPOTQA.sha256)
    assert published(None, HASH) == Published(HOTPOTQA.url, 0, HASH)
