"""The formats of files, in one table, which docs/formats.md shows and explains.

Formats that are written by document hold one text per record; the others hold one sentence after the other. When no
format is named, the dialect of each JSON record is seen by its keys, and the format is called ``json``.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._conll import read_conll, write_conll
from ._docbin import FIRST_BYTES, read_docbin, write_docbin
from ._json_read import read_json
from ._json_write import write_json
from ._parquet import PARQUET, read_parquet
from ._plain import read_inline, read_text, write_inline, write_text_lines
from ._reading import FileReader, Item
from ._tables import read_table, write_table
from ._writing import Writing
from .projects import MAGIC, read_project

HOLDS = ("words", "text", "partial labels", "unlabelled", "fields", "scores")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    `write` yields the pieces of a file, of documents; of sentences if the format holds these one by one and no fields.
    It is None for a format that can only be read.
    """

    name: str
    about: str
    read: Callable[[FileReader], Iterator[Item]]
    write: Callable[[Iterable[Any], Writing], Iterator[str] | Iterator[bytes]] | None = None
    by_sentence: bool = False
    has_tags: bool = False
    holds: tuple[str, ...] = HOLDS  # what comes back when it is written and read
    endings: tuple[str, ...] = ()  # of the names of its files, where that says enough
    first_bytes: bytes = b""  # of its files, if they are not text


_WORDS = ("words", "partial labels", "unlabelled")
_TEXT = ("text", "partial labels", "unlabelled")
_FIELDS = (*_TEXT, "fields")
_SCORES = (*_FIELDS, "scores")


def _json(name: str, about: str, **more: Any) -> Format:
    return Format(name, about, partial(read_json, dialect=name), partial(write_json, dialect=name), **more)


def _table(name: str, about: str) -> Format:
    read, write = partial(read_table, format=name), partial(write_table, format=name)
    return Format(name, about, read, write, holds=_SCORES, endings=(f".{name}",))


_TAGGED: dict[str, Any] = {"by_sentence": True, "has_tags": True}

_ALL = [
    Format("json", "JSON records of any dialect below; to read only", read_json),
    Format("project", "what ``handful label`` works on; to read only", read_project, first_bytes=MAGIC),
    Format(
        "parquet",
        "a Parquet table with a column of texts; to read only",
        read_parquet,
        holds=("text", "unlabelled", "fields"),
        first_bytes=PARQUET,
    ),
    Format(
        "conll",
        "one word per line, its tag last",
        read_conll,
        write_conll,
        **_TAGGED,
        holds=_WORDS,
        endings=(".conll",),
    ),
    _json("prodigy", "JSON Lines: text, tokens, spans"),
    _json("huggingface", "JSON Lines: tokens, ner_tags", **_TAGGED, holds=(*_WORDS, "fields")),
    _json("gliner", "a JSON array: tokenized_text, ner", by_sentence=True, holds=(*_WORDS, "fields")),
    _json("doccano", "JSON Lines: text, label", holds=_FIELDS),
    _json("spacy", "JSON Lines: text, entities", holds=_FIELDS),
    _json("label-studio", "a JSON array of tasks", holds=_SCORES),
    _json(
        "jsonl", "JSON Lines: text, entities with their scores", holds=_SCORES, endings=(".jsonl", ".json", ".ndjson")
    ),
    _table("csv", "a table with a header: text, entities as JSON"),
    _table("tsv", "the same, with tabs"),
    Format("docbin", "spaCy's DocBin", read_docbin, write_docbin, endings=(".spacy",), first_bytes=FIRST_BYTES),
    Format(
        "inline", "``[Ekeus](PER) heads for [Baghdad](LOC)``", read_inline, write_inline, by_sentence=True, holds=_TEXT
    ),
    Format("text", "plain text", read_text, write_text_lines, holds=("text", "unlabelled")),
]
TABLE = {one.name: one for one in _ALL}
"""The formats by their names."""

FORMATS = tuple(one.name for one in _ALL if one.write is not None)
"""The formats that can be named, to read and to write."""

READ_ONLY = tuple(one.name for one in _ALL if one.write is None)
"""Formats that can be named to read, besides `FORMATS`."""

ENDINGS = {ending: one.name for one in _ALL for ending in one.endings}
"""The formats that are written to files whose names end so."""
