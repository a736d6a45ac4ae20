"""Words, spans, tag schemes and files; standard library only."""

from .formats import FORMATS, READ_ONLY, WriteReport, read, stream, write
from .reading import Corpus, ReadReport, Stream
from .sampling import sample_support
from .schemes import SCHEMES, TagReader, count_adjacent, from_tags, to_tags
from .scores import MODES, Score, Scores, score
from .statistics import Statistics, describe
from .types import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span, types_of
from .words import to_sentence, to_sentences, word_offsets

__all__ = [
    "FORMATS",
    "MODES",
    "OUTSIDE",
    "READ_ONLY",
    "SCHEMES",
    "SOME_ENTITY",
    "UNKNOWN",
    "Allowed",
    "Corpus",
    "ReadReport",
    "Score",
    "Scores",
    "Sentence",
    "Span",
    "Statistics",
    "Stream",
    "TagReader",
    "WriteReport",
    "count_adjacent",
    "describe",
    "from_tags",
    "read",
    "sample_support",
    "score",
    "stream",
    "to_sentence",
    "to_sentences",
    "to_tags",
    "types_of",
    "word_offsets",
    "write",
]
