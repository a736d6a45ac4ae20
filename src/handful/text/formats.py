"""The formats of files, in one table.

{table}

The columns say what a format can hold. Where it does not hold the words, they are found again in the text. Where it
does not hold the text, words are joined by spaces. ``fields`` are the id of a document and what else came with it,
``scores`` those of predicted mentions. What a format cannot hold is counted in the `WriteReport`. Formats that are
written by document hold one text per record; the others hold one sentence after the other. JSON may be an array, or one
record per line, in any of its dialects. When no format is named, the dialect of each record is seen by its keys, and
the format is called ``json``.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._conll import read_conll, read_lines, write_conll, write_lines
from ._docbin import FIRST_BYTES, read_docbin, write_docbin
from ._json_read import read_json
from ._json_write import (
    write_doccano,
    write_gliner,
    write_huggingface,
    write_jsonl,
    write_label_studio,
    write_prodigy,
    write_spacy,
)
from ._ontonotes import read_conll_2012
from ._recognise import Recogniser, is_conll, is_conll_2012, is_csv, is_inline, is_json, is_lines, is_text, is_tsv
from ._tables import read_table, write_table
from ._writing import Writing
from .inline import read_inline, write_inline
from .plain import read_text, write_text_lines
from .projects import read_project
from .reading import Item, Reading

__all__ = ["ENDINGS", "FORMATS", "READ_ONLY", "TABLE", "Format"]

_ALL = ("words", "text", "partial labels", "unlabelled", "fields", "scores")


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Parameters
    ----------
    name : str
        What it is called.
    about : str
        What it is, in a few words.
    read : function
        Yields what it reads.
    write : function or None
        Yields the pieces of a file, of documents; of sentences if it holds these one by one and no fields. None for a
        format that can only be read.
    by_sentence : bool
        Whether it holds one sentence after the other; else it holds documents.
    has_tags : bool
        Whether labels are written as tags, which follow a scheme.
    holds : tuple of str
        What of a document comes back when it is written and read.
    recognise : function or None
        Tells the format by the beginning of a file; None if its name must be given.
    sign : str
        What `recognise` looks for.
    endings : tuple of str
        How the names of its files end, where that says enough.
    first_bytes : bytes
        What its files start with, if they are bytes that are not text.
    """

    name: str
    about: str
    read: Callable[[Reading], Iterator[Item]]
    write: Callable[[Iterable[Any], Writing], Iterator[str] | Iterator[bytes]] | None = None
    by_sentence: bool = False
    has_tags: bool = False
    holds: tuple[str, ...] = _ALL
    recognise: Recogniser | None = None
    sign: str = ""
    endings: tuple[str, ...] = ()
    first_bytes: bytes = b""


_TAGS = ("words", "partial labels", "unlabelled")
_MARKS = ("text", "partial labels", "unlabelled")

# In the order in which they are tried on a file whose format is not named.
TABLE: dict[str, Format] = {
    one.name: one
    for one in (
        Format(
            "json",
            "JSON records of any dialect below; to read only",
            read_json,
            recognise=is_json,
            sign="record or array at the start",
        ),
        Format(
            "conll-2012",
            "OntoNotes as CoNLL-2012 wrote it; to read only",
            read_conll_2012,
            holds=("words",),
            recognise=is_conll_2012,
            sign="#begin document in the first line",
        ),
        Format(
            "project",
            "what ``handful label`` works on; to read only",
            read_project,
        ),
        Format(
            "conll",
            "one word per line, its tag last",
            read_conll,
            write_conll,
            by_sentence=True,
            has_tags=True,
            holds=_TAGS,
            recognise=is_conll,
            sign="column of tags",
            endings=(".conll",),
        ),
        Format(
            "lines",
            "a line of words, a line of tags, ``X`` for unknown",
            read_lines,
            write_lines,
            by_sentence=True,
            has_tags=True,
            holds=_TAGS,
            recognise=is_lines,
            sign="line of tags",
        ),
        Format("prodigy", "JSON Lines: text, tokens, spans", partial(read_json, dialect="prodigy"), write_prodigy),
        Format(
            "huggingface",
            "JSON Lines: tokens, ner_tags",
            partial(read_json, dialect="huggingface"),
            write_huggingface,
            by_sentence=True,
            has_tags=True,
            holds=(*_TAGS, "fields"),
        ),
        Format(
            "gliner",
            "a JSON array: tokenized_text, ner",
            partial(read_json, dialect="gliner"),
            write_gliner,
            by_sentence=True,
            holds=(*_TAGS, "fields"),
        ),
        Format(
            "doccano",
            "JSON Lines: text, label",
            partial(read_json, dialect="doccano"),
            write_doccano,
            holds=(*_MARKS, "fields"),
        ),
        Format(
            "spacy",
            "JSON Lines: text, entities",
            partial(read_json, dialect="spacy"),
            write_spacy,
            holds=(*_MARKS, "fields"),
        ),
        Format(
            "label-studio",
            "a JSON array of tasks",
            partial(read_json, dialect="label-studio"),
            write_label_studio,
            holds=(*_MARKS, "fields", "scores"),
        ),
        Format(
            "jsonl",
            "JSON Lines: text, entities with their scores",
            read_json,
            write_jsonl,
            holds=(*_MARKS, "fields", "scores"),
            endings=(".jsonl", ".json", ".ndjson"),
        ),
        Format(
            "csv",
            "a table with a header: text, entities as JSON",
            partial(read_table, format="csv"),
            partial(write_table, format="csv"),
            holds=(*_MARKS, "fields", "scores"),
            recognise=is_csv,
            sign="header of a table",
            endings=(".csv",),
        ),
        Format(
            "tsv",
            "the same, with tabs",
            partial(read_table, format="tsv"),
            partial(write_table, format="tsv"),
            holds=(*_MARKS, "fields", "scores"),
            recognise=is_tsv,
            sign="header of a table with tabs",
            endings=(".tsv",),
        ),
        Format(
            "docbin",
            "spaCy's DocBin",
            read_docbin,
            write_docbin,
            endings=(".spacy",),
            first_bytes=FIRST_BYTES,
        ),
        Format(
            "inline",
            "``[Ekeus](PER) heads for [Baghdad](LOC)``",
            read_inline,
            write_inline,
            by_sentence=True,
            holds=_MARKS,
            recognise=is_inline,
            sign="mark such as [words](TYPE)",
        ),
        Format(
            "text",
            "plain text",
            read_text,
            write_text_lines,
            holds=("text", "unlabelled"),
            recognise=is_text,
        ),
    )
}

FORMATS = tuple(one.name for one in TABLE.values() if one.write is not None)
"""The formats that can be named, to read and to write."""

READ_ONLY = tuple(one.name for one in TABLE.values() if one.write is None)
"""Formats that can be named to read, besides `FORMATS`."""


ENDINGS = {ending: one.name for one in TABLE.values() for ending in one.endings}
"""The formats that are written to files whose names end so."""


def _documentation() -> str:
    """Return the table of formats as reStructuredText."""
    rows: list[tuple[str, ...]] = [("format", "what it is", *_ALL, "written by")]
    for one in TABLE.values():
        holds = ["yes" if what in one.holds else "no" for what in _ALL]
        unit = "sentence" if one.by_sentence else "document"
        rows.append((one.name, one.about, *holds, "" if one.write is None else unit))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


__doc__ = (__doc__ or "").replace("{table}", _documentation())
