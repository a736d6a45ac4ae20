"""Words, spans, tag schemes and files; standard library only."""

from ._document import Document, Prediction, Predictions, PredictionsOfTexts
from ._labels import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Span
from ._options import ReadOptions, read_tag_names
from ._reports import ReadReport, WriteReport
from ._schemes import SCHEMES, from_tags, to_tags
from ._sentences import Sentence
from ._statistics import Statistics, Transitions, describe
from ._stream import Corpus, Stream, read, stream
from ._words import to_sentence, to_sentences
from ._write import write
from .formats import ENDINGS, FORMATS, READ_ONLY
from .layers import flattened
from .types import EntityType, described, read_types, types_in, types_of

__all__ = [
    "ENDINGS", "FORMATS", "OUTSIDE", "READ_ONLY", "SCHEMES", "SOME_ENTITY", "UNKNOWN", "Allowed", "Corpus", "Document",
    "EntityType", "Prediction", "Predictions", "PredictionsOfTexts", "ReadOptions", "ReadReport", "Sentence", "Span",
    "Statistics", "Stream", "Transitions", "WriteReport", "describe", "described", "flattened", "from_tags", "read",
    "read_tag_names", "read_types", "stream", "to_sentence", "to_sentences", "to_tags", "types_in", "types_of", "write",
]  # fmt: skip
