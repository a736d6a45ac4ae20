"""Text to one vector a word."""

from .base import EMBEDDED, Encoder, load

__all__ = ["EMBEDDED", "Encoder", "load"]
