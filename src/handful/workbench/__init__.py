"""The workbench: label text in the browser, with a tagger that learns while one looks (extra `web`)."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy
from handful.web import LOOPBACK

from ._adding import Added
from ._people import People
from ._store import Project

if TYPE_CHECKING:
    from ._agreement import Agreement, agreement
    from ._server import serve
    from ._session import Session

__all__ = ["LOOPBACK", "Added", "Agreement", "People", "Project", "Session", "agreement", "serve"]

_NEEDS = {"_server": ("the workbench", "starlette", "uvicorn")}
__getattr__, __dir__ = lazy(__name__, _NEEDS, _agreement="Agreement agreement", _session="Session", _server="serve")
