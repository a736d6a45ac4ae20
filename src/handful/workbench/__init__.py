"""The workbench: label text in the browser, with a tagger that learns while one looks (extra `web`)."""

from typing import TYPE_CHECKING

from handful.web import LOOPBACK, need_extra

from ._adding import Added
from ._store import Project

if TYPE_CHECKING:
    from ._server import serve
    from ._session import Session

__all__ = ["LOOPBACK", "Added", "Project", "Session", "serve"]


def __getattr__(name: str) -> object:
    """Import the live side when it is asked for, and say so if it is not installed; the store alone is light."""
    if name == "Session":
        from ._session import Session

        return Session
    if name == "serve":
        need_extra("the workbench")
        from ._server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
