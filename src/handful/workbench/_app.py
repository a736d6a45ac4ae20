"""Running the workbench: a socket, a token, the server, the browser; and a clean end."""

import asyncio
import os
import secrets
import socket
import webbrowser
from collections.abc import Callable
from threading import Timer
from typing import TYPE_CHECKING, Any

from handful.errors import FileError, MissingExtraError

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["LOOPBACK", "check_extra", "serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TRIED_PORTS = 20


def check_extra() -> None:
    """Say how to get what the workbench needs, if it is not there."""
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            f"the workbench needs {error.name}, which is not installed: pip install 'handful[web]'"
        ) from None
    assert starlette, uvicorn


def serve(
    session: "Session",
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], object] | None = None,
) -> None:
    """Serve a session until Ctrl-C or a signal to end.

    Parameters
    ----------
    session : Session
        It runs while this does.
    host, port
        Where to listen; without a port, 8470 or the next one that is free.
    open_browser : bool
        Whether to open the page.
    say : function
        Called with the address; None, it is not said.
    """
    check_extra()
    import uvicorn

    from ._server import make_server

    token = os.environ.get("HANDFUL_TOKEN") or secrets.token_urlsafe(24)
    listening = _listen(host, port)
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/?token={token}"
    app: Any = make_server(session, token, _names(host))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2, lifespan="off"
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await asyncio.to_thread(session.stop)  # pages are told, and no longer listen
            await super().shutdown(sockets)

    server = Server(config)
    with session:
        if say is not None:
            say(address)
        timer = Timer(0.3, webbrowser.open, (address,))
        timer.daemon = True
        if open_browser:
            timer.start()
        try:
            server.run(sockets=[listening])
        finally:
            timer.cancel()
            listening.close()


def _names(host: str) -> frozenset[str]:
    """Return the names that a request may call this server."""
    names = {"localhost"}
    if host not in LOOPBACK:
        names |= {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names)


def _listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; without a port, on the first one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(8470, 8470 + TRIED_PORTS) if port is None else [port]
    for one in ports:
        listening = socket.socket(family, socket.SOCK_STREAM)
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
