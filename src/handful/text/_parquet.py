"""Parquet files, ``parquet``, to read only: a row is a document, and its other columns are fields. It needs pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from handful._util.lazy import check_libraries
from handful.errors import FormatError, HandfulError

from ._document import Document
from ._reading import FileReader

PARQUET = b"PAR1"  # how a file begins, and ends
_AT_ONCE = 1024  # rows


def read_parquet(reading: FileReader) -> Iterator[Document]:
    """Open the table; return an iterator of its documents."""
    check_libraries("the format parquet", "pyarrow")
    from pyarrow.parquet import ParquetFile

    with _errors(reading, "this is not a Parquet file"):
        table = ParquetFile(reading.source.seekable())
    reading.source.on_close(table.close)
    reading.n_row_groups = table.metadata.num_row_groups
    field, columns = reading.options.text_field or "text", table.schema_arrow.names
    if field not in columns:
        reading.fail("", f"there is no column {field!r} for the text; the columns are {', '.join(columns)}")
    return _documents(reading, table, field)


def _documents(reading: FileReader, table: Any, field: str) -> Iterator[Document]:
    first, stop = reading.options.row_groups or (0, table.metadata.num_row_groups)
    if not 0 <= first <= stop <= table.metadata.num_row_groups:
        reading.fail("", f"the file has {table.metadata.num_row_groups} row groups, not {stop}: it was changed")
    with _errors(reading, "this Parquet file is damaged"):
        row = sum(table.metadata.row_group(i).num_rows for i in range(first))
        for batch in table.iter_batches(_AT_ONCE, row_groups=range(first, stop)):
            for row, record in enumerate(batch.to_pylist(), row + 1):  # noqa: B020 - rows are counted over batches
                text = record.pop(field)
                if isinstance(text, str):
                    yield Document.of(text, meta=record)
                else:
                    reading.malformed(f": row {row}", f"{field!r} is {text!r}, expected a text")


@contextmanager
def _errors(reading: FileReader, problem: str) -> Iterator[None]:
    import pyarrow

    try:
        yield
    except HandfulError:
        raise
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:
        raise FormatError(f"{reading.source.name}: {problem}: {error}") from None
