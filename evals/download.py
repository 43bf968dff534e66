"""HotpotQA's own file of questions, from its own place. The one module of evals that uses the network; knows no layout.

The sizes and hashes are those that the Hugging Face library recorded when it fetched the same addresses:
huggingface/datasets, datasets/hotpot_qa/dataset_infos.json, `download_checksums`.
"""

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from ..agent.console import UsageError, progress
from .errors import DownloadFailed
from .records import sha256

SECONDS = 30
"""Of silence, before a server counts as gone."""
BLOCK = 1 << 16


class Published(NamedTuple):
    """`size` counts bytes, 0 where it is not known."""

    url: str
    size: int
    sha256: str


HOTPOTQA = Published(
    "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json",
    46_320_117,
    "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea",
)
"""The development set: 7,405 questions, each with ten paragraphs. The open setting has the same questions."""


def downloaded(folder: Path, wanted: Published = HOTPOTQA) -> Path:
    """The file in `folder`, fetched if it is not there. What was cut off goes on where it stopped, if the server can.
    Raises DownloadFailed, with the way out, where it can't be had or is not the published one."""
    path = folder / wanted.url.rsplit("/", 1)[-1]
    if path.exists():
        return path
    part = path.with_name(f"{path.name}.part")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _fetch(wanted, part)
    except (OSError, HTTPException, ValueError) as error:  # urllib's errors are OSErrors
        raise DownloadFailed(
            f"{wanted.url}: can't be fetched ({error}). The same command goes on when there is a network."
            f" Without one, bring {path.name} (https://hotpotqa.github.io) from elsewhere and give it with --data FILE"
        ) from error
    _check(part, wanted)
    part.replace(path)
    return path


def _fetch(wanted: Published, part: Path) -> None:
    if not wanted.url.startswith(("http://", "https://")):
        raise ValueError("its address must begin with http:// or https://")
    have = part.stat().st_size if part.exists() else 0
    if wanted.size and have >= wanted.size:
        return
    request = urllib.request.Request(wanted.url, headers={"Range": f"bytes={have}-"} if have else {})
    with _answered(request) as response:
        have = have if response.status == 206 else 0  # 200: the server sends all of it again
        coming = int(response.headers.get("Content-Length") or 0)
        with part.open("ab" if have else "wb") as file:
            for block in _watched(response, part.name.removesuffix(".part"), have, have + coming):
                file.write(block)
    if coming and part.stat().st_size < have + coming:
        raise OSError(f"it broke off after {part.stat().st_size:,} of {have + coming:,} bytes")


def _answered(request: urllib.request.Request) -> HTTPResponse:
    """A server that can't go on from where the file stops is asked for all of it."""
    try:
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416 or not request.has_header("Range"):
            raise
        answer = urllib.request.urlopen(request.full_url, timeout=SECONDS)
    return answer


def _watched(response: HTTPResponse, name: str, done: int, total: int) -> Iterator[bytes]:
    console = progress()
    shown = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*shown, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=total or None, completed=done)
        while block := response.read(BLOCK):
            bars.update(task, advance=len(block))
            yield block


def _check(part: Path, wanted: Published) -> None:
    found = sha256(part)
    if found == wanted.sha256:
        return
    size = part.stat().st_size
    part.unlink()
    raise DownloadFailed(
        f"{wanted.url}: has {size:,} bytes with sha256 {found}, not {wanted.sha256}; it was thrown away."
        " If you know this file to be right, give its hash with --sha256"
    )


def published(url: str | None, sha256: str | None) -> Published:
    """HotpotQA's file, from another place or with another hash where they are given. Raises UsageError for no hash."""
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise UsageError(f"--sha256 {sha256!r} is no hash: that has 64 digits from 0 to f")
    size = 0 if url or sha256 else HOTPOTQA.size
    return Published(url or HOTPOTQA.url, size, (sha256 or HOTPOTQA.sha256).lower())
