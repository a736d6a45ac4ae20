"""The server: models behind HTTP, for programs and for Label Studio (extra `web`)."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy
from handful.web import Limits, need_extra

if TYPE_CHECKING:
    from ._models import load_models
    from ._server import serve_models

__all__ = ["Limits", "load_models", "serve_models"]

_get, __dir__ = lazy(__name__, _models="load_models", _server="serve_models")


def __getattr__(name: str) -> object:
    if name == "serve_models":
        need_extra("the server")
    return _get(name)
