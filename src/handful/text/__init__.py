"""Words, spans, tag schemes and files; standard library only."""

from .formats import FORMATS, WriteReport, read, stream, write
from .reading import Corpus, ReadReport, Stream
from .schemes import SCHEMES, TagReader, count_adjacent, from_tags, to_tags
from .types import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span, types_of
from .words import to_sentence, to_sentences, word_offsets

__all__ = [
    "FORMATS",
    "OUTSIDE",
    "SCHEMES",
    "SOME_ENTITY",
    "UNKNOWN",
    "Allowed",
    "Corpus",
    "ReadReport",
    "Sentence",
    "Span",
    "Stream",
    "TagReader",
    "WriteReport",
    "count_adjacent",
    "from_tags",
    "read",
    "stream",
    "to_sentence",
    "to_sentences",
    "to_tags",
    "types_of",
    "word_offsets",
    "write",
]
