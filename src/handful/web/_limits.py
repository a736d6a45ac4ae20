"""`Limits`: how much a server takes at once, and how long it waits."""

from dataclasses import dataclass
from importlib.util import find_spec

from handful.errors import DataError, MissingExtraError

#: Where only this machine can reach a server.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Limits:
    """How much a server takes at once, and how long it waits.

    Parameters
    ----------
    max_connections : int
        Connections at once; half of the files that the process may open, if that is less. A further connection takes
        the place of the one that has been without a request for the longest time.
    max_requests : int
        Requests under way at once, waiting ones included. Others are told to come back (429).
    max_header : int
        Bytes in the address and the headers of a request (431).
    max_bytes, max_import : int
        Bytes in the body of a request, and in a file that is brought into a project (413).
    max_texts : int
        Texts in a request.
    max_projects : int
        Projects of Label Studio with a model in memory. The one that was asked least recently is fitted again when it
        is asked for.
    max_store : int
        Bytes of the annotations of Label Studio that are kept (422).
    header_timeout, body_timeout : float
        Seconds in which the header of a request must have come (the connection ends), and its body (408).
    timeout : float
        Seconds after which a request is given up (503), and so is a client that does not read its answer.
    grace : float
        Seconds in which a server that is told to stop finishes what it has accepted.
    """

    max_connections: int = 1000
    max_requests: int = 256
    max_header: int = 16 << 10
    max_bytes: int = 1 << 20
    max_import: int = 64 << 20
    max_texts: int = 1000
    max_projects: int = 16
    max_store: int = 1 << 30
    header_timeout: float = 10.0
    body_timeout: float = 10.0
    timeout: float = 30.0
    grace: float = 30.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 1 if isinstance(value, int) else 0.001
            if not value >= least:
                raise DataError(f"{name} is {value!r}, expected a number of at least {least}")


def need_extra(what: str) -> None:
    """Say how to get the packages that a server needs, if one is missing."""
    for name in ("prometheus_client", "starlette", "uvicorn"):
        if find_spec(name) is None:
            raise MissingExtraError(f"{what} needs {name}, which is not installed: pip install 'handful[web]'")
