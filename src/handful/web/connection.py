"""Connections that cannot be held for nothing, and the server that they belong to (extra `web`)."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ._limits import Limits

AT_ONCE, QUEUE = 16, 1024  # connections that are accepted at once, before others are let go, and that wait for it
PIECE = 2 << 10  # bytes that are read at once; a body can have a chunk in every 6 of them, and others wait meanwhile


class _Connection(H11Protocol):
    """A connection with a deadline for each header, and for an answer that the client does not read.

    Where there are too many, the connection that has been without a request for the longest time ends.
    """

    limits: Limits
    most: int
    idle: "dict[_Connection, None]"  # the one that has been without a request for the longest time comes first

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        vars(transport)["max_size"] = PIECE
        self.idle[self] = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._expect("header", self.limits.header_timeout)
        if len(self.connections) > self.most:
            oldest = next(iter(self.idle), self)
            self.idle.pop(oldest, None)
            self.connections.discard(oldest)  # it is lost only later, when more may have come
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        is_answered = self.is_idle and self.conn.their_state is h11.SEND_BODY
        if not (is_answered and b"transfer-encoding" in dict(self.headers)):  # chunks take long to read, for nothing
            super().data_received(data)
        if not self.is_idle:
            self._came("header")
            self.idle.pop(self, None)
        elif "header" not in self._timers:
            self._expect("header", self.limits.header_timeout)

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None:
            self.cycle.disconnected = True  # nothing else is to be sent
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer went out before, or one without a body is due
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.is_idle:
            self.idle[self] = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect("reader", self.limits.timeout)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._came("reader")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.idle.pop(self, None)
        for what in list(self._timers):
            self._came(what)

    def _expect(self, what: str, seconds: float) -> None:
        """End the connection unless something comes in time."""
        self._timers[what] = self.loop.call_later(seconds, self.transport.abort)

    def _came(self, what: str) -> None:
        if what in self._timers:
            self._timers.pop(what).cancel()


class Server(uvicorn.Server):
    """A server of an ASGI application, within limits.

    It calls `before_end` in a thread when it is told to stop, before it waits for its connections.
    """

    def __init__(self, app: Any, limits: Limits, before_end: Callable[[], object] | None = None) -> None:
        try:
            import resource

            n_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        except ImportError:  # Windows
            n_files = 8192
        most = max(8, min(limits.max_connections, n_files // 2))
        connection = type("Connection", (_Connection,), {"limits": limits, "most": most, "idle": {}})
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=connection,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            backlog=AT_ONCE,
            h11_max_incomplete_event_size=limits.max_header,
            timeout_graceful_shutdown=max(1, round(limits.grace)),
        )
        super().__init__(config)
        self._before_end = before_end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; who comes while many others come waits, and need not knock again a second later."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(QUEUE)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        if self._before_end is not None:
            await asyncio.to_thread(self._before_end)
        await super().shutdown(sockets)
