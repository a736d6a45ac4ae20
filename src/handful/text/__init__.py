"""Words, spans, tag schemes and files; standard library only."""

from ._document import Document
from ._entity_types import EntityType, described, read_types, types_in, types_of
from ._formats import FORMATS, READ_ONLY, WriteReport, read, stream, write
from ._reading import Corpus, ReadReport, Stream
from ._schemes import SCHEMES, TagReader, count_adjacent, from_tags, to_tags
from ._statistics import Statistics, describe
from ._transitions import Transitions
from ._types import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span
from ._words import to_sentence, to_sentences, word_offsets

__all__ = [
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
    "ReadReport",
    "Sentence",
    "Span",
    "Statistics",
    "Stream",
    "TagReader",
    "Transitions",
    "WriteReport",
    "count_adjacent",
    "describe",
    "described",
    "from_tags",
    "read",
    "read_types",
    "stream",
    "to_sentence",
    "to_sentences",
    "to_tags",
    "types_in",
    "types_of",
    "word_offsets",
    "write",
]
