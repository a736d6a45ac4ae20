"""`Limits`: how much a server takes at once, and how long it waits."""

from dataclasses import dataclass
from functools import partial

from handful._util.options import check_options, option

#: Where only this machine can reach a server.
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_count, _seconds = partial(option, least=1), partial(option, least=0.001)


@dataclass(frozen=True)
class Limits:
    """How much a server takes at once, and how long it waits; `handful serve --limits` takes them as a TOML file."""

    # connections at once; half of the files that the process may open, if that is less. A further connection takes
    # the place of the one that has been without a request for the longest time.
    max_connections: int = _count(1000)
    # requests under way at once, waiting ones included. Others are told to come back (429).
    max_requests: int = _count(256)
    max_header: int = _count(16 << 10)  # bytes in the address and the headers of a request (431)
    max_bytes: int = _count(1 << 20)  # bytes in the body of a request (413)
    max_import: int = _count(64 << 20)  # bytes in a file that is brought into a project (413)
    max_texts: int = _count(1000)  # texts in a request
    max_types: int = _count(1000)  # types of a project, in the workbench and of Label Studio (422)
    # projects of Label Studio with a model in memory. The one that was asked least recently is fitted again when it
    # is asked for.
    max_projects: int = _count(16)
    max_store: int = _count(1 << 30)  # bytes of the annotations of Label Studio that are kept (422)
    # seconds in which the header of a request must have come; the connection ends then
    header_timeout: float = _seconds(10.0)
    body_timeout: float = _seconds(10.0)  # seconds in which the body of a request must have come (408)
    # seconds after which a request is given up (503), and so is a client that does not read its answer
    timeout: float = _seconds(30.0)
    grace: float = _seconds(30.0)  # seconds in which a server that is told to stop finishes what it has accepted

    def __post_init__(self) -> None:
        check_options(self)
