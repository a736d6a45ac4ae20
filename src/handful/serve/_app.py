"""Running a server: a socket, a token, models behind HTTP; and an end that finishes what was accepted."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handful.errors import DataError
from handful.tagger import Tagger
from handful.web.listening import LOOPBACK, address_of, listen, names_of, need_extra

from ._settings import Settings

__all__ = ["serve_models"]

FIRST_PORT = 8480
LEAST_TOKEN = 16  # characters; a shorter one can be guessed


def serve_models(
    models: dict[str, Tagger],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    settings: Settings | None = None,
    label_studio: bool = False,
    store: str | Path | None = None,
    json_logs: bool = False,
    say: Callable[[str], object] | None = None,
) -> None:
    """Serve models until Ctrl-C or a signal to end; what was accepted is finished first.

    Parameters
    ----------
    models : dict
        Fitted taggers by name, as `load_models` returns them. The first one answers where no model is named.
    host, port
        Where to listen; without a port, 8480 or the next one that is free.
    token : str, optional
        What each request must know; the environment variable HANDFUL_TOKEN if not given. It is optional on this
        machine alone (127.0.0.1), and demanded elsewhere.
    settings : Settings, optional
        Limits and waiting times.
    label_studio : bool
        Whether to be a machine-learning backend of Label Studio, too, under ``/label-studio``.
    store : path, optional
        The file in which annotations from Label Studio are kept; in memory if not given.
    json_logs : bool
        Whether each request is logged on standard error, as a line of JSON.
    say : function
        Called with the address; None, it is not said.
    """
    need_extra("the server")
    import uvicorn

    from ._server import Service, make_server

    if not models:
        raise DataError("there is no model to serve")
    settings = settings or Settings()
    token = _token(token or os.environ.get("HANDFUL_TOKEN") or None, host)
    listening = listen(host, port, FIRST_PORT)
    service = Service(models, settings)
    backend: Any = None
    try:
        if label_studio:
            from ._label_studio import Backend

            backend = Backend(service, store, is_logging=json_logs)
        hosts = names_of(host) if token is None else None
        routes = backend.routes() if backend is not None else None
        app: Any = make_server(service, token, hosts, is_logging=json_logs, more_routes=routes)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=max(1, round(settings.grace)),
        )
        service.warm_up()
        if say is not None:
            say(address_of(host, listening) + "/")
        with _ending_well():
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        service.stop()
        if backend is not None:
            backend.stop()


def _token(token: str | None, host: str) -> str | None:
    """Return the token; an error where there must be one."""
    if token is None and host not in LOOPBACK:
        raise DataError(
            f"on {host} other machines can reach the server, so it needs a token: set HANDFUL_TOKEN to "
            f"{LEAST_TOKEN} characters or more (python -c 'import secrets; print(secrets.token_urlsafe())' makes one)"
        )
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise DataError(f"the token must be {LEAST_TOKEN} or more printable ASCII characters")
    return token


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let a signal to end be an end like any other: the server sends it on to the process when it is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
