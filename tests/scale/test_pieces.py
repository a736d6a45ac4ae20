"""Pieces of files: all documents once, in order, wherever files are cut; what cannot be read is named with its line."""

import gzip
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import FileError, FormatError
from handful.scale._pieces import PieceReader, find_pieces
from handful.text import stream

pytest.importorskip("fsspec")

OPTIONS = {"unlabelled": True}


def documents(pieces, options=OPTIONS):
    return [document for piece in pieces for document in PieceReader(piece, options)]


def serial(path, **options):
    return list(stream(path, **OPTIONS, **options))


LINES = st.lists(st.text("ab ñ.\u2028\u0085", max_size=30), min_size=1, max_size=12)


@given(LINES, st.integers(1, 60), st.sampled_from(["\n", ""]), st.sampled_from(["", "\ufeff"]))
def test_lines_of_plain_text_come_once_wherever_the_file_is_cut(tmp_path_factory, lines, size, end, mark):
    path = tmp_path_factory.mktemp("lines") / "text.txt"
    path.write_bytes((mark + "x y\n" + "\n".join(lines) + end).encode())
    pieces = find_pieces([str(path)], "text", OPTIONS, path.parent / "spool", size)
    assert documents(pieces) == serial(path, format="text")
    assert len(pieces) in (1, -(-path.stat().st_size // size))  # lines that look wrapped are not cut


@given(st.lists(st.text("ab\n", min_size=1, max_size=9), min_size=1, max_size=8), st.integers(5, 80))
def test_records_come_once_wherever_the_file_is_cut(tmp_path_factory, texts, size):
    path = tmp_path_factory.mktemp("records") / "text.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    pieces = find_pieces([str(path)], None, OPTIONS, path.parent / "spool", size)
    assert documents(pieces) == serial(path)


def test_a_compressed_file_of_lines_is_cut_too(tmp_path):
    path, plain = tmp_path / "text.txt.gz", tmp_path / "plain.txt"
    text = "".join(f"line {i} of {i * i}\n" for i in range(500))
    plain.write_text(text)
    path.write_bytes(gzip.compress(text.encode()))
    pieces = find_pieces([str(path)], None, OPTIONS, tmp_path / "spool", 1000)
    assert len(pieces) > 5
    assert {piece.name for piece in pieces} == {str(path)}
    assert documents(pieces) == serial(plain)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wrapped.txt", "\n\n".join(textwrap.fill(f"a text {i} that goes on and on " * 9, 50) for i in range(9))),
        ("tags.conll", "Ekeus\tB-PER\nleft\tO\n\nBaghdad\tB-LOC\n\n" * 30),
        ("table.csv", "id,text\n1,Ekeus left\n2,for Baghdad\n"),
        ("array.json", json.dumps([{"text": "Ekeus left"}, {"text": "for Baghdad"}], indent=1)),
    ],
)
def test_a_file_that_cannot_be_cut_is_one_piece(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    pieces = find_pieces([str(path)], None, OPTIONS, tmp_path / "spool", 40)
    assert len(pieces) == 1
    assert documents(pieces) == serial(path)


def test_text_in_an_encoding_with_other_line_feeds_is_one_piece(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("one line\nĊ and more\n" * 20, encoding="utf-16-le")
    options = OPTIONS | {"encoding": "utf-16-le"}
    pieces = find_pieces([str(path)], "text", options, tmp_path / "spool", 40)
    assert len(pieces) == 1
    assert documents(pieces, options) == list(stream(path, "text", **options))


def test_a_pattern_stands_for_files_by_name(tmp_path):
    for name in ("b.txt", "a.txt", "c.log"):
        (tmp_path / name).write_text(f"this is {name}\n")
    pieces = find_pieces([str(tmp_path / "*.txt")], None, OPTIONS, tmp_path / "spool")
    assert [document.text for document in documents(pieces)] == ["this is a.txt", "this is b.txt"]


def test_a_parquet_dataset_is_read_by_row_groups_with_its_columns(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for part in range(2):
        rows = [{"id": 10 * part + i, "body": f"text {i} of {part}", "tags": ["x"]} for i in range(5)]
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / f"part{part}.parquet", row_group_size=2)
    options = OPTIONS | {"text_field": "body"}
    pieces = find_pieces([str(tmp_path)], None, options, tmp_path / "spool")
    assert len(pieces) == 6
    found = documents(pieces, options)
    assert [document.text for document in found] == [f"text {i} of {part}" for part in range(2) for i in range(5)]
    assert found[-1].meta == {"id": 14, "tags": ["x"]}
    with pytest.raises(FormatError, match="there is no column 'text' for the text; the columns are id, body, tags"):
        documents(pieces)


def test_a_row_without_a_text_is_named_or_counted(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"text": ["one", "two", None, "four"]}), path, row_group_size=2)
    pieces = find_pieces([str(path)], None, OPTIONS, tmp_path / "spool")
    with pytest.raises(FormatError, match=r"rows.parquet: row 3: 'text' is None, expected a text"):
        documents(pieces)
    reader = PieceReader(pieces[1], OPTIONS | {"malformed": "skip"})
    assert [document.text for document in reader] == ["four"]
    assert reader.report.n_skipped == 1


def test_a_malformed_record_is_named_with_its_line_in_the_whole_file(tmp_path):
    path = tmp_path / "records.jsonl"
    lines = [json.dumps({"text": f"text {i}"}) for i in range(30)]
    lines[23] = '{"text": 5}'
    path.write_text("\n".join(lines))
    pieces = find_pieces([str(path)], None, OPTIONS, tmp_path / "spool", 100)
    assert len(pieces) > 4
    with pytest.raises(FormatError) as by_pieces:
        documents(pieces)
    with pytest.raises(FormatError) as by_file:
        serial(path)
    assert str(by_pieces.value) == str(by_file.value)
    assert "records.jsonl:24" in str(by_pieces.value)
    assert len(documents(pieces, OPTIONS | {"malformed": "skip"})) == 29


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.txt", "there is no such file"),
        ("*.none", "no file matches this pattern"),
        ("", "is a folder without Parquet files"),
        ("-", "several workers cannot read standard input"),
        ("broken.parquet", "this is not a Parquet file"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, message):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    if not name:
        (tmp_path / "broken.parquet").unlink()
    path = name if name == "-" else str(tmp_path / name)
    with pytest.raises((FileError, FormatError), match=message):
        find_pieces([path], None, OPTIONS, tmp_path / "spool")
