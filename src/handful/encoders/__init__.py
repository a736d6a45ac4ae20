"""Text to one vector per word."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

from .encoder import Encoder
from .loading import EMBEDDED, load
from .names import NameHead
from .network_encoder import NetworkEncoder
from .opened import open_encoder
from .type_texts import TypeVectors

if TYPE_CHECKING:
    from .cache import CachedEncoder
    from .exporting import export_encoder

__all__ = [
    "EMBEDDED",
    "CachedEncoder",
    "Encoder",
    "NameHead",
    "NetworkEncoder",
    "TypeVectors",
    "export_encoder",
    "load",
    "open_encoder",
]

__getattr__, __dir__ = lazy(__name__, cache="CachedEncoder", exporting="export_encoder")
