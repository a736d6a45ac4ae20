"""Pages for people: HTML with its style and script as static files."""

from ._page import CLOSING, marked, opening

__all__ = ["CLOSING", "marked", "opening"]


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
