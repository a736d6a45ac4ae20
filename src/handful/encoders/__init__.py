"""Text to one vector per word."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

from .encoder import Encoder
from .names import TypeVectors
from .opened import load, open_encoder
from .shipped import EMBEDDED

if TYPE_CHECKING:
    from ._exporting import export_encoder
    from .cache import CachedEncoder

__all__ = ["EMBEDDED", "CachedEncoder", "Encoder", "TypeVectors", "export_encoder", "load", "open_encoder"]

__getattr__, __dir__ = lazy(__name__, cache="CachedEncoder", _exporting="export_encoder")
