"""Text to one vector a word."""

from ._base import EMBEDDED, Encoder, load

__all__ = ["EMBEDDED", "Encoder", "load"]
