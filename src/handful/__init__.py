"""Find named entities from a handful of labelled examples and unlabelled text."""

from typing import TYPE_CHECKING, Any

from handful.text import Sentence, Span

if TYPE_CHECKING:
    from handful.tagger import Tagger

__version__ = "0.1.0"

__all__ = ["Sentence", "Span", "Tagger", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the tagger, and numpy with it, only when it is asked for."""
    if name == "Tagger":
        from handful.tagger import Tagger

        return Tagger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
