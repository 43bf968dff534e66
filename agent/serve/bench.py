"""Measures a server: throughput and latency at several connections, and whether its memory grows.

    python -m remask.agent.serve.bench --docs FOLDER --out agent/serve/RESULTS.md

Starts `remask serve` as a process of its own and asks it over this machine's own address, nothing else.
"""

import asyncio
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any
from urllib.request import urlopen

import typer

from ..console import CommandError, output, progress
from .load import Requests, Timings, asking, health, loaded, streaming
from .wrk import wrk

MEBIBYTE = 1024 * 1024
SOAK_CONNECTIONS = 8
LEAVE_EVERY = 10
SERVE = "import sys; from remask.agent.cli import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs."""

    address: str
    process: int

    def memory(self) -> float:
        """Resident, in MiB."""
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process)], capture_output=True, text=True, check=True)
        return int(told.stdout) * 1024 / MEBIBYTE


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    connections: int
    timings: Timings


@dataclass(frozen=True, slots=True)
class Soak:
    timings: Timings
    memory: list[tuple[float, float]]
    """Seconds from the beginning, and MiB."""

    @property
    def growth(self) -> float:
        """MiB between the second quarter and the last: the first one warms up."""
        quarter = max(1, len(self.memory) // 4)
        return median(m for _, m in self.memory[-quarter:]) - median(m for _, m in self.memory[quarter : 2 * quarter])


def bench(
    index: Annotated[Path | None, typer.Option("--index", help="An index to serve.", show_default=False)] = None,
    docs: Annotated[Path | None, typer.Option("--docs", help="Or a folder of documents.", show_default=False)] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", help="One a line. [default: about the documents' titles]", show_default=False),
    ] = None,
    connections: Annotated[str, typer.Option("--connections", help="How many at once, by commas.")] = "1,8,32",
    seconds: Annotated[float, typer.Option("--seconds", min=0.5, help="Of each measurement.")] = 60,
    soak: Annotated[float, typer.Option("--soak", min=0, help="Seconds of the soak; 0 leaves it out.")] = 600,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Of the server.")] = 1,
    dry: Annotated[bool, typer.Option("--dry", help="A few seconds of everything, to see that it works.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the page here.", show_default=False)] = None,
) -> None:
    """Measure `remask serve` on this machine."""
    if (index is None) == (docs is None):
        raise CommandError("give either --index DIR or --docs FOLDER")
    seconds, soak = (2.0, min(soak, 6.0)) if dry else (seconds, soak)
    source = ["--index", str(index)] if index else ["--docs", str(docs)]
    with serving([*source, "--threads", str(threads)]) as served:
        asked = _questions(served, questions)
        progress().print(f"warming up with {len(asked)} questions")
        asyncio.run(loaded(served.address, asking(asked), connections=1, seconds=min(seconds, 10)))
        rows = _measured(served, asked, [int(n) for n in connections.split(",")], seconds)
        soaked = asyncio.run(_soaked(served, asked, soak)) if soak else None
    page = written(rows, soaked, questions=len(asked), source=" ".join(sys.argv[1:]), dry=dry)
    if out:
        out.write_text(page, encoding="utf-8")
    output().print(page)


@contextmanager
def serving(source: Sequence[str]) -> Iterator[Served]:
    """A server as its users start it, on a free port; it is told to stop at the end."""
    command = [sys.executable, "-c", SERVE, "serve", *source, "--port", "0", "--quiet", "--read-only"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next((one for one in process.stderr if "http://" in one), "")
            if not line:
                raise CommandError("the server did not start. Try the same with: remask serve " + " ".join(source))
            yield Served(line.split()[1], process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def _questions(served: Served, file: Path | None) -> list[str]:
    if file:
        found = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        import json

        with urlopen(f"{served.address}/documents?limit=50") as response:
            documents = json.load(response)["documents"]
        found = [f"What is {one['title'] or one['id']}?" for one in documents]
    if not found:
        raise CommandError("there is nothing to ask: no question in the file, or no document")
    return found


def _measured(served: Served, asked: list[str], connections: list[int], seconds: float) -> list[Row]:
    """Each number of connections for each kind of request, and the same questions by wrk where there is one."""
    kinds: dict[str, Requests] = {
        "POST /ask": asking(asked),
        "diffusing stream": streaming(asked, leave_every=0),
        "GET /health": health(),
    }
    rows = []
    for what, requests in kinds.items():
        for number in connections:
            progress().print(f"{what}, {number} connections, {seconds:g} s")
            timings = asyncio.run(loaded(served.address, requests, connections=number, seconds=seconds))
            rows.append(Row(what, number, timings))
    for number in connections if shutil.which("wrk") else ():
        progress().print(f"POST /ask by wrk, {number} connections, {seconds:g} s")
        rows.append(Row("POST /ask by wrk", number, wrk(served.address, asked, connections=number, seconds=seconds)))
    return rows


async def _soaked(served: Served, asked: list[str], seconds: float) -> Soak:
    """Streams, of which one in ten is given up half way, while the memory is read."""
    progress().print(f"soak, {SOAK_CONNECTIONS} connections, {seconds:g} s")
    requests = streaming(asked, leave_every=LEAVE_EVERY)
    begin, memory = time.perf_counter(), list[tuple[float, float]]()

    async def watched() -> None:
        while True:
            now = time.perf_counter() - begin
            memory.append((now, await asyncio.to_thread(served.memory)))
            await asyncio.sleep(seconds / 60)

    watching = asyncio.create_task(watched())
    timings = await loaded(served.address, requests, connections=SOAK_CONNECTIONS, seconds=seconds)
    watching.cancel()
    return Soak(timings, memory)


def written(rows: Sequence[Row], soak: Soak | None, *, questions: int, source: str, dry: bool) -> str:
    """The page of results, as Markdown."""
    parts = [
        "# The server under load",
        f"{'A dry run: the numbers mean nothing. ' if dry else ''}Client and server on one machine: {_machine()}."
        f" Load average before: {os.getloadavg()[0]:.2f}. {questions} questions in turns. Times are to the last byte,"
        " waiting for a turn included.",
        f"`python -m remask.agent.serve.bench {source}`",
        _table(rows),
    ]
    if soak:
        parts += ["## Soak", _told(soak)]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Row]) -> str:
    lines = [
        "| request | connections | answered | per second | p50 ms | p99 ms | refused | failed |",
        "|---|" + "---:|" * 7,
    ]
    lines += [_line(row) for row in rows]
    return "\n".join(lines)


def _line(row: Row) -> str:
    t = row.timings
    answered = len(t.latencies) or round(t.per_second * t.seconds)
    p50, p99 = (f"{1000 * t.percentile(share):.1f}" if answered else "–" for share in (0.5, 0.99))
    cells: list[Any] = [row.what, row.connections, answered, f"{t.per_second:.2f}", p50, p99]
    return "| " + " | ".join(map(str, [*cells, t.refused, t.failed])) + " |"


def _told(soak: Soak) -> str:
    t, first, last = soak.timings, soak.memory[0][1], soak.memory[-1][1]
    return (
        f"Diffusing streams over {SOAK_CONNECTIONS} connections for {t.seconds:.0f} s, one in {LEAVE_EVERY} given up half"
        f" way: {len(t.latencies)} answered, {t.left} given up, {t.refused} refused, {t.failed} failed;"
        f" p50 {1000 * t.percentile(0.5):.0f} ms, p99 {1000 * t.percentile(0.99):.0f} ms. Resident memory"
        f" {first:.0f} MiB at the beginning, {last:.0f} MiB at the end; from the second quarter to the last it changed by"
        f" {soak.growth:+.1f} MiB ({len(soak.memory)} readings)."
    )


def _machine() -> str:
    names = [line for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")]
    name = names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()
    return f"{os.cpu_count()} processors ({name}), Python {platform.python_version()}"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


if __name__ == "__main__":
    typer.run(bench)
