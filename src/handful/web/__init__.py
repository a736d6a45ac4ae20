"""Pages for people: HTML with its style and script as static files."""

from ._page import CLOSING, hue, marked, opening

__all__ = ["CLOSING", "hue", "marked", "opening"]


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
