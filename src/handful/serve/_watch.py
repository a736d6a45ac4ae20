"""`Watch`: every answer is counted, and logged as one line of JSON if that is asked for."""

import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any

from ._metrics import Metrics

__all__ = ["Watch", "log"]

#: What the server knows of a request beyond its line, by the key of its state.
NOTED = ("model", "texts", "words", "error")

#: Methods that are counted under their names; others are somebody's inventions.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


def log(event: str, **fields: Any) -> None:
    """Write a line of JSON to standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    sys.stderr.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
    sys.stderr.flush()


class Watch:
    """An ASGI application that counts and logs what the one inside answers. Texts are never logged.

    Parameters
    ----------
    app : the application inside
    metrics : where answers are counted
    is_logging : whether each is logged
    """

    def __init__(self, app: Any, metrics: Metrics, *, is_logging: bool) -> None:
        self.app = app
        self.metrics = metrics
        self.is_logging = is_logging

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Pass a request on, and note how it was answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
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
            self.metrics.request(state.get("route", "none"), method, status, seconds)
            if self.is_logging:
                client = scope.get("client")
                log(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    ms=round(1000 * seconds, 2),
                    client=client[0] if client else None,
                    **{name: state[name] for name in NOTED if name in state},
                )
