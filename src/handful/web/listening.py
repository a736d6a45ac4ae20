"""Where a server of ours listens, and what it is called there."""

import os
import socket

from handful.errors import FileError, MissingExtraError

__all__ = ["LOOPBACK", "address_of", "listen", "names_of", "need_extra"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TRIED_PORTS = 20


def need_extra(what: str) -> None:
    """Say how to get what a server needs, if it is not there."""
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs {error.name}, which is not installed: pip install 'handful[web]'"
        ) from None
    assert starlette, uvicorn


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address of a server that listens."""
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}"


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
