"""`Metrics` and `AccessLog`: every answer is counted, and logged as one line of JSON if that is asked for."""

import json
import sys
import time
import traceback
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from starlette.routing import Match

from handful import __version__
from handful.web.guard import Guard, Receive, Scope, Send

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)

#: Keys of a request's state that are logged with it.
_NOTED = ("model", "texts", "words")

#: Methods that are counted under their names; others are somebody's inventions.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


class Metrics:
    """Counts and times for Prometheus.

    `waiting` and `under_way` return how many requests wait for a batch, and how many are under way, at the moment.
    """

    def __init__(self, waiting: Callable[[], int], under_way: Callable[[], int]) -> None:
        self.registry = to = CollectorRegistry()
        Info("handful", "The version that runs.", registry=to).info({"version": __version__})
        labels = ["route", "method", "status"]
        self.requests = Counter("handful_requests", "Requests that were answered.", labels, registry=to)
        help = "Seconds from a request to its answer."
        self.seconds = Histogram("handful_request_seconds", help, ["route"], registry=to, buckets=_SECONDS)
        help = "Requests that were predicted together."
        self.batch_requests = Histogram("handful_batch_requests", help, registry=to, buckets=_REQUESTS)
        help = "Seconds that a batch took."
        self.batch_seconds = Histogram("handful_batch_seconds", help, registry=to, buckets=_SECONDS)
        self.words = Counter("handful_words", "Words that were tagged.", registry=to)
        self.fits = Counter("handful_fits", "Fits on annotations from Label Studio.", ["result"], registry=to)
        Gauge("handful_requests_waiting", "At the moment.", registry=to).set_function(waiting)
        Gauge("handful_requests_under_way", "At the moment.", registry=to).set_function(under_way)

    def batch(self, n_jobs: int, n_words: int, seconds: float) -> None:
        self.batch_requests.observe(n_jobs)
        self.batch_seconds.observe(seconds)
        self.words.inc(n_words)


def log(event: str, **fields: Any) -> None:
    """Write a line of JSON to standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sys.stderr.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
    sys.stderr.flush()


@dataclass(frozen=True)
class AccessLog:
    """An ASGI application that counts the answers of the one inside, and may log them. Texts are never logged."""

    app: Guard
    metrics: Metrics
    is_logging: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 500
        state = scope.setdefault("state", {})

        async def send_and_see(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_see)
        except Exception:  # it was answered with 500; who runs the server gets to see more
            log("fault", path=scope["path"], trace=traceback.format_exc())
        finally:
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in _METHODS else "other"
            routes: Any = self.app.app.routes  # the pattern of the address that answered, so that there are few
            route = next((one.path for one in routes if one.matches(scope)[0] is not Match.NONE), "none")
            self.metrics.requests.labels(route, method, str(status)).inc()
            self.metrics.seconds.labels(route).observe(seconds)
            if self.is_logging:
                client = scope.get("client")
                log(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    ms=round(1000 * seconds, 2),
                    client=client[0] if client else None,
                    **{name: state[name] for name in _NOTED if name in state},
                )
