"""`Limits`: how much a server takes at once, and how long it waits."""

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from handful._util.options import check_options, documented, option
from handful.errors import MissingExtraError

#: Where only this machine can reach a server.
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_count, _seconds = partial(option, least=1), partial(option, least=0.001)


@documented
@dataclass(frozen=True)
class Limits:
    """How much a server takes at once, and how long it waits; `handful serve --limits` takes them as a TOML file."""

    max_connections: int = _count(
        1000,
        help="Connections at once; half of the files that the process may open, if that is less. A further connection\n"
        "takes the place of the one that has been without a request for the longest time.",
    )
    max_requests: int = _count(
        256, help="Requests under way at once, waiting ones included. Others are told to come back (429)."
    )
    max_header: int = _count(16 << 10, help="Bytes in the address and the headers of a request (431).")
    max_bytes: int = _count(1 << 20, help="Bytes in the body of a request (413).")
    max_import: int = _count(64 << 20, help="Bytes in a file that is brought into a project (413).")
    max_texts: int = _count(1000, help="Texts in a request.")
    max_projects: int = _count(
        16,
        help="Projects of Label Studio with a model in memory. The one that was asked least recently is fitted again\n"
        "when it is asked for.",
    )
    max_store: int = _count(1 << 30, help="Bytes of the annotations of Label Studio that are kept (422).")
    header_timeout: float = _seconds(
        10.0, help="Seconds in which the header of a request must have come; the connection ends then."
    )
    body_timeout: float = _seconds(10.0, help="Seconds in which the body of a request must have come (408).")
    timeout: float = _seconds(
        30.0, help="Seconds after which a request is given up (503), and so is a client that does not read its answer."
    )
    grace: float = _seconds(30.0, help="Seconds in which a server that is told to stop finishes what it has accepted.")

    def __post_init__(self) -> None:
        check_options(self)


def need_extra(what: str) -> None:
    """Say how to get the packages that a server needs, if one is missing."""
    for name in ("prometheus_client", "starlette", "uvicorn"):
        if find_spec(name) is None:
            raise MissingExtraError(f"{what} needs {name}, which is not installed: pip install 'handful[web]'")
