"""Words, spans, tag schemes and files; standard library only."""

from ._document import Document
from ._entity_types import EntityType, described, types_in, types_of
from ._io import read, stream, write
from ._options import ReadOptions, read_names
from ._prediction import Prediction, Predictions, PredictionsOfTexts
from ._schemes import SCHEMES, from_tags, to_tags
from ._statistics import Statistics, describe
from ._transitions import Transitions
from ._types_file import read_types
from ._words import to_sentence, to_sentences
from ._writing import WriteReport
from .corpus import Corpus
from .formats import ENDINGS, FORMATS, READ_ONLY
from .reading import ReadReport
from .sentences import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span

__all__ = [
    "ENDINGS",
    "FORMATS",
    "OUTSIDE",
    "READ_ONLY",
    "SCHEMES",
    "SOME_ENTITY",
    "UNKNOWN",
    "Allowed",
    "Corpus",
    "Document",
    "EntityType",
    "Prediction",
    "Predictions",
    "PredictionsOfTexts",
    "ReadOptions",
    "ReadReport",
    "Sentence",
    "Span",
    "Statistics",
    "Transitions",
    "WriteReport",
    "describe",
    "described",
    "from_tags",
    "read",
    "read_names",
    "read_types",
    "stream",
    "to_sentence",
    "to_sentences",
    "to_tags",
    "types_in",
    "types_of",
    "write",
]


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
