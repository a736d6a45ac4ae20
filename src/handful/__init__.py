"""Find named entities of your own types from a handful of labelled examples and unlabelled text."""

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans
    from handful.errors import HandfulError
    from handful.evaluate import score
    from handful.integrations import pipeline
    from handful.tagger import Tagger
    from handful.text import Document, EntityType, Sentence, Span, read, write

__version__ = "0.2.0"

__all__ = [
    "Document",
    "EntityType",
    "HandfulError",
    "Sentence",
    "Span",
    "SubspaceKMeans",
    "Tagger",
    "__version__",
    "pipeline",
    "read",
    "score",
    "write",
]

_HOME = {
    "HandfulError": "errors",
    "SubspaceKMeans": "cluster",
    "Tagger": "tagger",
    "pipeline": "integrations",
    "score": "evaluate",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: so the command line starts at once, and numpy is loaded only if needed."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"handful.{_HOME.get(name, 'text')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
