"""Words, spans, tag schemes and files; standard library only."""

from .schemes import SCHEMES, TagReader, count_adjacent, from_tags, to_tags
from .types import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span, types_of

__all__ = [
    "OUTSIDE",
    "SCHEMES",
    "SOME_ENTITY",
    "UNKNOWN",
    "Allowed",
    "Sentence",
    "Span",
    "TagReader",
    "count_adjacent",
    "from_tags",
    "to_tags",
    "types_of",
]
