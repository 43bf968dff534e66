"""The load client against a real server, and what the page of results makes of its numbers."""

import asyncio
import math

import pytest
from remask.agent.serve.bench import Row, Soak, written
from remask.agent.serve.load import Timings, _Line, asking, health, loaded, streaming
from remask.agent.serve.wrk import WrkReport

from .running import WHEN, Gated, in_memory, served, service_over


def test_every_request_that_is_answered_is_counted_once() -> None:
    service = service_over(in_memory())
    with served(service) as address:
        found = asyncio.run(loaded(address, asking([WHEN]), connections=4, seconds=0.5))
    counted = service.metrics.text().decode()
    assert found.latencies
    assert (found.failed, found.refused, found.left) == (0, 0, 0)
    assert f'remask_http_requests_total{{method="POST",route="/ask",status="200"}} {len(found.latencies)}.0' in counted
    assert found.per_second == pytest.approx(len(found.latencies) / found.seconds)
    assert all(0 < latency <= found.seconds for latency in found.latencies)


def test_streams_are_read_to_their_end_and_some_are_given_up() -> None:
    service = service_over(in_memory())
    with served(service) as address:
        found = asyncio.run(loaded(address, streaming([WHEN], leave_every=2), connections=2, seconds=0.8))
        assert asyncio.run(loaded(address, health(), connections=1, seconds=0.1)).latencies
    assert found.failed == 0
    assert found.left >= 1
    assert found.latencies


def test_a_full_queue_is_counted_as_refused_not_as_failed() -> None:
    model = Gated()
    with served(service_over(in_memory(), model, running=1, waiting=0, request_seconds=1)) as address:
        found = asyncio.run(loaded(address, asking([WHEN]), connections=3, seconds=0.4))
    assert found.refused >= 2
    assert found.failed <= 1  # the one that was worked on ran out of time


def test_a_stream_that_is_cut_short_is_no_answer() -> None:
    with served(service_over(in_memory(), Gated(), request_seconds=0.2)) as address:
        found = asyncio.run(loaded(address, streaming([WHEN], leave_every=0), connections=1, seconds=0.1))
    assert (found.failed, found.latencies) == (1, [])


async def test_a_comment_after_the_end_does_not_make_a_stream_cut_short() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"e\r\ndata: [DONE]\n\n\r\n10\r\n: still at it...\r\n0\r\n\r\n")
    line = _Line(reader, None)  # type: ignore[arg-type]
    assert await line._last_of_body(b"transfer-encoding: chunked\r\n") == b"data: [DONE]\n\n"


def test_percentiles_are_of_the_requests_that_were_answered() -> None:
    timings = Timings(latencies=[number / 100 for number in range(100, 0, -1)])
    assert (timings.percentile(0.5), timings.percentile(0.99), timings.percentile(1)) == (0.5, 0.99, 1.0)
    assert math.isnan(Timings().percentile(0.5))


def test_growth_is_between_the_second_quarter_and_the_last() -> None:
    memory = [(float(second), 100.0 if second < 4 else 120.0 + second) for second in range(16)]
    assert Soak(Timings(), memory).growth == 133.5 - 125.5


WRK = """Running 2s test @ http://127.0.0.1:8000
  1 threads and 8 connections
  Latency Distribution
     50%    1.03ms
     75%    1.50ms
     90%  980.00us
     99%    1.20s
  200 requests in 2.00s, 30.00KB read
  Non-2xx or 3xx responses: 7
Requests/sec:     99.50
"""


def test_what_wrk_says_is_read_with_its_units() -> None:
    report = WrkReport(WRK, 2)
    assert (report.per_second, report.failed) == (99.5, 7)
    assert [report.percentile(share) for share in (0.5, 0.9, 0.99)] == pytest.approx([0.00103, 0.00098, 1.2])


def test_the_page_has_a_line_for_each_measurement() -> None:
    rows = [
        Row("POST /ask", 8, Timings(seconds=2.0, latencies=[0.1, 0.2, 0.3, 0.4], refused=3)),
        Row("POST /ask by wrk", 8, WrkReport(WRK, 2)),
    ]
    soak = Soak(Timings(seconds=6, latencies=[0.1], left=2), [(0.0, 200.0), (1.0, 210.0), (2.0, 210.0), (3.0, 210.5)])
    page = written(rows, soak, questions=5, source="--docs X", dry=True)
    assert "| POST /ask | 8 | 4 | 2.00 | 200.0 | 400.0 | 3 | 0 |" in page
    assert "| POST /ask by wrk | 8 | 199 | 99.50 | 1.0 | 1200.0 | 0 | 7 |" in page
    assert "changed by +0.5 MiB" in page
    assert "A dry run" in page
