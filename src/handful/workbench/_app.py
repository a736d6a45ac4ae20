"""Running the workbench: a socket, a token, the server, the browser; and a clean end."""

import asyncio
import os
import secrets
import socket
import webbrowser
from collections.abc import Callable
from threading import Timer
from typing import TYPE_CHECKING, Any

from handful.web.listening import LOOPBACK, address_of, listen, names_of, need_extra

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["LOOPBACK", "check_extra", "serve"]

FIRST_PORT = 8470


def check_extra() -> None:
    """Say how to get what the workbench needs, if it is not there."""
    need_extra("the workbench")


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
    listening = listen(host, port, FIRST_PORT)
    address = f"{address_of(host, listening)}/?token={token}"
    app: Any = make_server(session, token, names_of(host))
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
