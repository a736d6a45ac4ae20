"""Find named entities of your own types from a handful of labelled examples and unlabelled text."""

from handful._util.lazy import lazy

TYPE_CHECKING = False  # as in typing, which takes longer to import than all else here

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans
    from handful.errors import HandfulError
    from handful.evaluate import score
    from handful.tagger import Tagger, predict
    from handful.text import Document, EntityType, Sentence, Span, read, write

__version__ = "0.2.0"

__all__ = [
    "Document", "EntityType", "HandfulError", "Sentence", "Span", "SubspaceKMeans", "Tagger", "__version__", "predict",
    "read", "score", "write",
]  # fmt: skip

__getattr__, __dir__ = lazy(
    __name__,
    cluster="SubspaceKMeans",
    errors="HandfulError",
    evaluate="score",
    tagger="Tagger predict",
    text="Document EntityType Sentence Span read write",
)
