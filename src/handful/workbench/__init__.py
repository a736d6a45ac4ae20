"""The workbench: label text in the browser, with a tagger that learns while one looks (extra `web`)."""

from typing import TYPE_CHECKING

from ._store import Added, Project

if TYPE_CHECKING:
    from ._app import LOOPBACK, check_extra, serve
    from ._session import Session

__all__ = ["LOOPBACK", "Added", "Project", "Session", "check_extra", "serve"]


def __getattr__(name: str) -> object:
    """Import the live side when it is asked for; the store alone is light."""
    if name == "Session":
        from ._session import Session

        return Session
    if name in ("LOOPBACK", "check_extra", "serve"):
        from . import _app

        return getattr(_app, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
