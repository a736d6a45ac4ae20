"""The server: models behind HTTP, for programs and for Label Studio (extra `web`)."""

from typing import TYPE_CHECKING

from handful.web import Limits, need_extra

if TYPE_CHECKING:
    from ._models import load_models
    from ._server import serve_models

__all__ = ["Limits", "load_models", "serve_models"]


def __getattr__(name: str) -> object:
    """Import the live side when it is asked for, and say so if it is not installed; the limits alone are light."""
    if name == "load_models":
        from ._models import load_models

        return load_models
    if name == "serve_models":
        need_extra("the server")
        from ._server import serve_models

        return serve_models
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
