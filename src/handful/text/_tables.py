"""Tables with a header, ``csv`` and ``tsv``; docs/formats.md says which columns have the text and the labels.

Each row is a document. All columns but the labels go with it. The columns of the first document are written, and
``entities``, with the mentions as ``jsonl`` has them. A cell that a spreadsheet would run, such as
``=HYPERLINK(...)``, has a ``'`` before it, which reading takes away.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from handful.errors import Advice, DataError, FormatError, shorten

from ._annotators import settle_repeated
from ._document import Document
from ._json_read import LABEL_KEYS, read_marked
from ._json_records import Record
from ._json_write import entities
from ._reading import FileReader
from ._writing import Writing

ENTITIES = "entities"
_SEPARATORS = {"csv": ",;\t", "tsv": "\t"}
_LARGEST_CELL = (1 << 31) - 1
_COLUMN = re.compile(r"[^\W\d](?:[\w .#/()%-]{0,40}[\w)#%])?")
_USUAL = {"id", "text", "body", "content", "title", "sentence", "message", "label"}
_ENOUGH = 0.8  # of all rows
_FORMULA = re.compile(r"'*(?:=|[+\-@\t\r].*(?:\w\(|\|))", re.DOTALL)  # a call of a function, or of a program


def _split(lines: Iterable[str], separator: str, is_quoted: bool) -> Any:
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))  # Python's own limit is that of a short text
    quoting: Any = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    return csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)


def _style(head: str, format: str) -> tuple[str, bool, list[list[str]]]:
    """Find out how a table is written, by its beginning: its separator, and whether cells are in quotes.

    Return also the rows there, of which the last may be cut.
    """
    lines = [line + "\n" for line in head.split("\n")]
    header = re.sub(r'"[^"]*"', "", next((line for line in lines if line.strip()), ""))
    separator = max(_SEPARATORS[format], key=header.count)
    found = []
    for is_quoted in (True, False) if separator == "\t" else (True,):
        rows: list[list[str]] = []
        with suppress(csv.Error):  # in a damaged row, or in the last one, which may be cut
            for row in _split(lines, separator, is_quoted):
                if row and row != [""]:
                    rows.append(row)
        found.append((separator, is_quoted, rows))
    return max(found, key=lambda one: sum(len(row) == len(one[2][0]) for row in one[2]))


def is_table(head: str, format: str, *, is_whole: bool, text_field: str | None) -> bool:
    """Whether a text is a table with a header: its first line looks like names, and rows have as many cells."""
    separator, _, rows = _style(head, format)
    if not rows or (format == "csv" and separator == "\t"):
        return False
    header = rows[0]
    if text_field in header:
        return True
    rows = rows[1:] if is_whole or len(rows) < 3 else rows[1:-1]
    if len(header) < 2 or not rows or sum(len(row) == len(header) for row in rows) < _ENOUGH * len(rows):
        return False
    names = [name.strip() for name in header]
    is_tight = names == header  # in a text, a space follows a comma
    is_named = all(_COLUMN.fullmatch(name) for name in names[not names[0] :])  # an index has no name
    return is_named and len({*names}) == len(names) and (is_tight or bool(_USUAL & {*map(str.casefold, names)}))


def read_table(reading: FileReader, format: str) -> Iterator[Document]:
    """Yield the documents of a table."""
    return settle_repeated(reading, _documents(reading, format))


def _documents(reading: FileReader, format: str) -> Iterator[tuple[str, Document]]:
    separator, is_quoted, first = _style(reading.source.head, format)
    header: list[str] = []
    text_field = ""
    for line, row in _rows(reading, _split(reading.source.lines(), separator, is_quoted)):
        if not header:
            header, text_field = row, _text_column(reading, line, row, first)
            continue
        try:
            document = _document(reading, header, row, text_field)
        except DataError as error:
            reading.malformed(line, error)
        else:
            yield f":{line}", document


def _rows(reading: FileReader, rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its first line."""
    row: list[str] | None = []
    while row is not None:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            reading.malformed(
                line,
                f"the row is damaged ({error}); a cell with quotes in it is in quotes itself, and has each of them "
                "twice",
            )
            continue
        if row and row != [""]:
            yield line, [cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell for cell in row]


def _text_column(reading: FileReader, line: int, header: list[str], first: list[list[str]]) -> str:
    """Return the column that holds the text; where that is not clear, the first rows say which one to advise."""
    twice = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if twice is not None:
        reading.fail(line, f"two columns are called {twice!r}")
    given = reading.options.text_field
    named = [name for name in header if name == given or (given is None and name.strip().casefold() == "text")]
    if len(named) == 1 or (len(header) == 1 and given is None):
        return (named or header)[0]
    what = "it is not clear which column holds the text" if given is None else f"it has no column {given!r}"
    rows = [row for row in first[1:] if len(row) == len(header)]
    likely = max(header, key=lambda name: sum(len(row[header.index(name)]) for row in rows))
    raise FormatError(
        f"{reading.source.name}: this is a table, and {what}; the columns are {shorten(', '.join(header), 200)}",
        Advice.of(
            "say which one it is, for example {}, or {} if this is plain text",
            (f"text_field={likely!r}", f"--text-field {likely if likely.isidentifier() else repr(likely)}"),
            ("format='text'", "--from text"),
        ),
    )


def _document(reading: FileReader, header: list[str], row: list[str], text_field: str) -> Document:
    if len(row) != len(header):
        raise DataError(
            f"found {len(row)} cell{'s' * (len(row) > 1)} in {shorten(repr(row))}, expected {len(header)} as in the "
            "header; a cell with separators or line breaks in it is in double quotes"
        )
    fields: dict[str, Any] = dict(zip(header, row, strict=True))
    given = None if reading.options.unlabelled else reading.options.label_field
    if given is not None and given not in header:
        raise DataError(f"there is no column {given!r} for labels; the columns are {shorten(', '.join(header))}")
    found = []
    for key in LABEL_KEYS["json"] if given is None else (given,):
        labels = _labels(fields.get(key, "")) if key != text_field else None
        if labels is not None:
            fields[key] = labels
            found.append(key)
        elif given is not None and fields[key].strip():
            raise DataError(f"the labels in the column {key!r} are {shorten(fields[key])!r}, expected a JSON list")
    if len(found) > 1 and not reading.options.unlabelled:
        pair = (f"label_field={found[0]!r}", f"handful convert --label-field {found[0]}")
        advice = Advice.of("say which column holds them, for example {}", pair)
        raise DataError(f"there are labels in the columns {' and '.join(found)}", advice)
    document = read_marked(reading, Record(fields), row[header.index(text_field)], (*found, None)[0], text_field)
    return replace(document, meta={name: fields[name] for name in header if name == "id" or name in document.meta})


def _labels(cell: str) -> list[Any] | None:
    """Return the list in a cell; None if there is none: the cell may hold something else, such as a class."""
    if not cell.startswith("["):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def write_table(documents: Iterable[Document], writing: Writing, format: str) -> Iterator[str]:
    """Yield the header of a table and its rows."""
    header: list[str] = []
    for document in documents:
        found = entities(document, writing)
        fields = _fields(document, writing)
        if not header:
            header = [*fields, ENTITIES]
            yield _row(header, format, writing)
        elif lost := fields.keys() - {*header}:
            writing.notes["cells were not written: the first document has no such field"] += len(lost)
        fields[ENTITIES] = found
        cells = ("" if (cell := fields.get(name)) is None else cell for name in header)
        texts = [cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False) for cell in cells]
        yield _row(texts, format, writing)
    if not header:
        yield _row(["text", ENTITIES], format, writing)


def _fields(document: Document, writing: Writing) -> dict[str, Any]:
    """Return the fields of a document in the order of its source; an id and a text from elsewhere come first."""
    first: dict[str, Any] = {} if document.id is None else {"id": document.id}
    first[document.text_field] = None
    fields = {key: value for key, value in first.items() if key not in document.meta} | dict(document.meta)
    if fields.pop(ENTITIES, None) is not None:
        writing.notes["cells were not written: the format has another use for their column"] += 1
    fields[document.text_field] = document.text.replace("\r", " ")
    if "\r" in document.text:
        writing.notes["carriage returns were written as spaces"] += document.text.count("\r")
    return fields


def _row(cells: list[str], format: str, writing: Writing) -> str:
    if n := sum(_FORMULA.match(cell) is not None for cell in cells):
        writing.notes["cells that a spreadsheet would run have a ' before them"] += n
        cells = [f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells]
    row = io.StringIO()
    csv.writer(row, delimiter=_SEPARATORS[format][0], lineterminator="\n").writerow(cells)
    return row.getvalue()
