"""Text to one vector per word."""

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    """Import the exporter and the cache when they are asked for."""
    if name == "export_encoder":
        from .exporting import export_encoder

        return export_encoder
    if name == "CachedEncoder":
        from .cache import CachedEncoder

        return CachedEncoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
