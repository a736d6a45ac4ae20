"""Find named entities from a handful of labelled examples and unlabelled text."""

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here

if TYPE_CHECKING:
    from handful.tagger import Tagger
    from handful.text import Sentence, Span

__version__ = "0.1.0"

__all__ = ["Sentence", "Span", "Tagger", "__version__"]


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: so the command line is there at once, and numpy only where it is needed."""
    if name == "Tagger":
        from handful.tagger import Tagger

        return Tagger
    if name in ("Sentence", "Span"):
        from handful import text

        return getattr(text, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
