"""The workbench: label text in the browser, with a tagger that learns while one looks (extra `web`)."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy
from handful.web import LOOPBACK, need_extra

from ._adding import Added
from ._store import Project

if TYPE_CHECKING:
    from ._server import serve
    from ._session import Session

__all__ = ["LOOPBACK", "Added", "Project", "Session", "serve"]

_get, __dir__ = lazy(__name__, _session="Session", _server="serve")


def __getattr__(name: str) -> object:
    if name == "serve":
        need_extra("the workbench")
    return _get(name)
