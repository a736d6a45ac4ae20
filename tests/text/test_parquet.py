"""Parquet files: rows are documents."""

import io
import sys

import pytest

from handful.errors import DataError, FileError, FormatError, MissingExtraError
from handful.text import read, stream

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def table(tmp_path):
    rows = [{"id": i, "text": f"row {i} is here", "tags": ["x"]} for i in range(5)]
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    return path


def test_each_row_is_a_document_with_its_other_columns_as_fields(table):
    with stream(table) as found:
        documents = list(found)
    assert [one.text for one in documents] == [f"row {i} is here" for i in range(5)]
    assert documents[3].meta == {"id": 3, "tags": ["x"]}
    assert (found.report.format, found.report.n_words, found.n_row_groups) == ("parquet", 20, 3)
    assert len(read(table)) == 5


def test_some_row_groups_are_read_alone(table):
    assert [one.meta["id"] for one in stream(table, row_groups=(1, 3))] == [2, 3, 4]
    assert list(stream(table, row_groups=(1, 1))) == []
    with pytest.raises(FormatError, match="the file has 3 row groups, not 4"):
        list(stream(table, row_groups=(2, 4)))
    for wrong in ((1,), (2, 1), (-1, 1), "12", 3):
        with pytest.raises(DataError, match="row_groups is"):
            stream(table, row_groups=wrong)


def test_an_open_file_and_bytes_are_read_too(table):
    with open(table, "rb") as file:
        assert len(list(stream(file))) == 5
    assert len(list(stream(io.BytesIO(table.read_bytes())))) == 5


def test_another_column_holds_the_text(table):
    with pytest.raises(FormatError, match=r"rows.parquet: there is no column 'body' .* are id, text, tags"):
        stream(table, text_field="body")
    with pytest.raises(FormatError, match=r"rows.parquet: row 1: 'id' is 0, expected a text"):
        list(stream(table, text_field="id"))
    found = stream(table, text_field="id", malformed="skip")
    assert list(found) == []
    assert found.report.n_skipped == 5


def test_a_file_that_is_no_parquet_file(table, tmp_path):
    (tmp_path / "text.txt").write_text("plain text\n")
    with pytest.raises(FormatError, match=r"text.txt: this is not a Parquet file"):
        stream(tmp_path / "text.txt", "parquet")
    table.write_bytes(table.read_bytes()[:200])
    with pytest.raises(FormatError, match=r"rows.parquet: this is not a Parquet file"):
        stream(table)
    with pytest.raises(FileError, match=r"no.parquet: cannot be read"):
        stream(tmp_path / "no.parquet")


def test_without_pyarrow_the_extra_is_named(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"parquet needs pyarrow, .* pip install 'handful\[dask\]'"):
        stream(table)
