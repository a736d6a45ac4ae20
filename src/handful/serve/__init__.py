"""The server: models behind HTTP, for programs and for Label Studio (extra `web`)."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy
from handful.web import Limits

if TYPE_CHECKING:
    from ._models import load_models
    from ._server import serve_models

__all__ = ["Limits", "load_models", "serve_models"]

_NEEDS = {"_server": ("the server", "starlette", "uvicorn", "prometheus_client")}
__getattr__, __dir__ = lazy(__name__, _NEEDS, _models="load_models", _server="serve_models")
