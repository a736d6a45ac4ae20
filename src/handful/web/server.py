"""How a server of ours is made and runs: where it listens, who may ask, and what all servers answer (extra `web`)."""

import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handful.errors import DataError, FileError

from ._limits import LOOPBACK, Limits
from .connection import Server
from .guard import Guard
from .http import Json, error_handlers

LEAST_TOKEN = 16  # characters; a shorter one can be guessed
TRIED_PORTS = 20
SWITCH = 0.001  # seconds after which a thread that computes lets another one go on

_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def application(
    package: str | None,
    page: str,
    routes: Sequence[Route],
    limits: Limits,
    *,
    token: str | Mapping[str, str] | None,
    hosts: frozenset[str] | None,
    advice: Mapping[int, str],
    without_token: int = 401,
    handlers: Mapping[Any, Any] | None = None,
) -> Guard:
    """Return an application behind its guard, with ``/``, ``/static/NAME`` and ``/health`` besides its own addresses.

    The folder ``static`` of the package holds the files of the page; `advice` says what to do about errors, by status.
    Several people have a token each, by their names.
    """
    folder = files(package or "") / "static"
    static = {one.name: one.read_bytes() for one in folder.iterdir() if os.path.splitext(one.name)[1] in _KINDS}

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", page)
        if name not in static:
            raise HTTPException(404, "there is no such file")
        return Response(static[name], media_type=_KINDS[os.path.splitext(name)[1]])

    async def health(request: Request) -> Response:
        return Json({"status": "ok"})

    shared = [Route("/", file), Route("/static/{name}", file), Route("/health", health)]
    app = Starlette(routes=[*shared, *routes], exception_handlers=error_handlers(advice) | dict(handlers or {}))
    app.router.redirect_slashes = False
    return Guard(app, limits, {"": token} if isinstance(token, str) else token, hosts, advice, without_token)


def check_token(token: str | None, host: str) -> str | None:
    """Return the token of a server; an error where it can be guessed, or where there must be one."""
    if token is None and host not in LOOPBACK:
        raise DataError(
            f"on {host} other machines can reach the server, so it needs a token: set HANDFUL_TOKEN to "
            f"{LEAST_TOKEN} characters or more (python -c 'import secrets; print(secrets.token_urlsafe())' makes one)"
        )
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise DataError(f"the token must be {LEAST_TOKEN} or more printable ASCII characters")
    return token


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address of a server that listens."""
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}/"


def names_of(host: str) -> frozenset[str]:
    """Return the names that a request may call this server."""
    names = {"localhost"}
    if host not in LOOPBACK:
        names |= {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names)


def listen(host: str, port: int | None, first: int) -> socket.socket:
    """Return a socket that listens; without a port, on the first one that is free, counting from `first`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(first, first + TRIED_PORTS) if port is None else [port]
    for one in ports:
        # asyncio sends without delay only where the protocol is named; else each answer waits 40 ms for the client
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name != "nt":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, one))
            listening.listen()  # from now on who comes waits, and is not refused
            return listening
        except OSError as error:
            listening.close()
            if one == ports[-1]:
                where = f"{host}:{one}" if port is not None else f"{host}, ports {ports[0]} to {one}"
                raise FileError(
                    f"cannot listen on {where}: {error.strerror or error}; choose another with --port"
                ) from None
    raise AssertionError("there is no port to try")


def run(app: Any, listening: socket.socket, limits: Limits, before_end: Callable[[], object] | None = None) -> None:
    """Run an application until Ctrl-C or a signal to end; what was accepted is finished first."""
    server = Server(app, limits, before_end)
    with _ending_well(server), _attentive():
        server.run(sockets=[listening])


@contextmanager
def _attentive() -> Iterator[None]:
    """Let no other thread keep the one that answers waiting for long.

    It asks for Python's lock about ten times for an answer. A collection of garbage holds that lock, and takes 0.1 s
    where it looks at all modules and models.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


@contextmanager
def _ending_well(server: Server) -> Iterator[None]:
    """Let a signal to end be an end like any other.

    The server gets it also where it comes before the server listens to signals, and sends it on when it is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, server.handle_exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
