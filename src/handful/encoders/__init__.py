"""Text to one vector per word."""

from typing import TYPE_CHECKING

from ._encoder import Encoder
from ._load import EMBEDDED, load
from ._names import NameHead
from ._opened import WordEncoder, open_encoder
from ._type_texts import TypeVectors

if TYPE_CHECKING:
    from ._export import export_encoder
    from .cache import CachedEncoder

__all__ = [
    "EMBEDDED",
    "CachedEncoder",
    "Encoder",
    "NameHead",
    "TypeVectors",
    "WordEncoder",
    "export_encoder",
    "load",
    "open_encoder",
]


def __getattr__(name: str) -> object:
    """Import the exporter and the cache when they are asked for."""
    if name == "export_encoder":
        from ._export import export_encoder

        return export_encoder
    if name == "CachedEncoder":
        from .cache import CachedEncoder

        return CachedEncoder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
