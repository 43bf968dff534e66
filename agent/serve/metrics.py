"""What the server counts, for Prometheus. Each server has its own registry."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ..answer import Answer
from ..events import AnswerReady, Event, PassMade

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Labels come from fixed words and route templates, so that no client can make up series."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "remask_http_requests", "Requests.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "remask_http_request_seconds",
            "Time to the last byte.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._answers = Counter("remask_answers", "Questions answered.", ("outcome",), registry=self._registry)
        self._passes = Counter("remask_canvas_passes", "Passes over the canvas.", ("stage",), registry=self._registry)
        self._stages = Histogram(
            "remask_stage_seconds", "Time by stage of an answer.", ("stage",), buckets=SECONDS, registry=self._registry
        )
        self._cancelled = Counter("remask_cancelled", "Questions whose client left.", registry=self._registry)

    def watch(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A number that is read when it is asked for."""
        Gauge(name, about, registry=self._registry).set_function(value)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def event(self, event: Event) -> None:
        match event:
            case PassMade() if event.made.index:
                self._passes.labels(event.made.stage).inc()
            case AnswerReady():
                self._answer(event.answer)

    def cancelled(self) -> None:
        self._cancelled.inc()

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self._registry)

    def _answer(self, answer: Answer) -> None:
        self._answers.labels("abstained" if answer.abstained else "answered").inc()
        for stage, seconds in answer.trace.seconds.items():
            self._stages.labels(stage).observe(seconds)
