"""The server: models behind HTTP, for programs and for Label Studio (extra `web`)."""

from typing import TYPE_CHECKING

from ._settings import Settings

if TYPE_CHECKING:
    from ._app import serve_models
    from ._models import load_models

__all__ = ["Settings", "load_models", "serve_models"]


def __getattr__(name: str) -> object:
    """Import the live side when it is asked for; the settings alone are light."""
    if name == "serve_models":
        from ._app import serve_models

        return serve_models
    if name == "load_models":
        from ._models import load_models

        return load_models
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
