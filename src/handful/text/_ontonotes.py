"""OntoNotes as the CoNLL-2012 shared task wrote it (``conll-2012``), to be read only.

There is one word per line, in columns separated by white space. The fourth column is the word. The eleventh opens and
closes names, as in ``(ORG*``, ``*``, ``*)`` and ``(GPE)``. A document is between lines that start with ``#begin
document`` and ``#end document``; a blank line ends a sentence.
"""

import re
from collections.abc import Iterator

from handful.errors import DataError

from ._conll import split_columns
from .reading import Reading
from .sentences import Sentence, Span, shorten

__all__ = ["BEGIN", "read_conll_2012"]

BEGIN, END = "#begin document", "#end document"
_WORD, _NAME = 3, 10
_BRACKETS = re.compile(r"(?:\(([^()*]+))?\*?(\))?")


def read_conll_2012(reading: Reading) -> Iterator[Sentence | None]:
    """Yield the sentences of a CoNLL-2012 file, and None where a document begins."""
    words: list[str] = []
    names: list[str] = []
    lines: list[int] = []
    is_spoiled = False
    number = 0
    for number, line in enumerate(reading.source.lines(), 1):
        is_mark = line.startswith("#") and line.startswith((BEGIN, END))
        if is_mark or not line.strip():
            sentence = None if is_spoiled else _sentence(reading, words, names, lines)
            if sentence is not None:
                yield sentence
            words, names, lines, is_spoiled = [], [], [], False
            if is_mark and line.startswith(BEGIN):
                reading.report.notes[f"{BEGIN} lines were passed over"] += 1
                yield None
            continue
        row = split_columns(line)
        if len(row) <= _NAME:
            reading.malformed(number, f"found {len(row)} columns, expected at least {_NAME + 1}")
            is_spoiled = True
            continue
        words.append(row[_WORD])
        names.append(row[_NAME])
        lines.append(number)
    sentence = None if is_spoiled else _sentence(reading, words, names, lines)
    if sentence is not None:
        yield sentence


def _sentence(reading: Reading, words: list[str], names: list[str], lines: list[int]) -> Sentence | None:
    """Make a sentence of words and brackets; None if there is none, or if it is malformed."""
    if not words:
        return None
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    for i, brackets in enumerate(names):
        match = _BRACKETS.fullmatch(brackets)
        if match is None or (match[1] and opened) or (match[2] and not (opened or match[1])):
            state = "within a name" if opened else "outside any name"
            reading.malformed(lines[i], f"found {shorten(brackets)!r} in column {_NAME + 1}, {state}")
            return None
        if match[1]:
            opened = (i, match[1])
        if opened and (match[2] or "*" not in brackets):
            spans.append(Span(opened[0], i + 1, opened[1]))
            opened = None
    if opened:
        reading.malformed(lines[opened[0]], f"the name {opened[1]} is not closed before its sentence ends")
        return None
    try:
        return reading.finish(Sentence(tuple(words), tuple(spans)))
    except DataError as error:
        reading.malformed(lines[0], error)
        return None
