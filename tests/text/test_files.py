"""Paths, standard input and output, gzip, encodings; whole files or none."""

import gzip
import io
import sys

import pytest

from handful.errors import DataError, FileError, FormatError
from handful.text import Sentence, Span, read, stream, write

CORPUS = [Sentence(("Zoë", "left"), (Span(0, 1, "PER"),)), Sentence(("Yes",), ())]
TEXT = "Zoë\tB-PER\nleft\tO\n\nYes\tO\n\n"


def test_paths_and_gzip(tmp_path):
    for name in ("a.conll", "a.conll.gz"):
        path = tmp_path / name
        write(CORPUS, path, "conll")
        assert read(path) == read(str(path)) == CORPUS
        assert read(path).report.name == str(path)
    assert (tmp_path / "a.conll").read_text(encoding="utf-8") == TEXT
    assert gzip.decompress((tmp_path / "a.conll.gz").read_bytes()).decode() == TEXT
    first = (tmp_path / "a.conll.gz").read_bytes()
    write(CORPUS, tmp_path / "a.conll.gz", "conll")
    assert (tmp_path / "a.conll.gz").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.conll", "a.conll.gz"]


def test_open_files_stay_open():
    for file in (io.StringIO(), io.BytesIO()):
        write(CORPUS, file, "conll")
        file.seek(0)
        assert read(file) == CORPUS
        assert not file.closed
    packed = io.BytesIO(gzip.compress(TEXT.encode()))
    assert read(packed) == CORPUS
    assert not packed.closed


def test_text_files_may_bring_their_own_line_ends_and_mark():
    assert read(io.StringIO("\ufeff" + TEXT.replace("\n", "\r\n"))) == CORPUS


def test_standard_input_and_output(monkeypatch):
    class Console:
        def __init__(self, data=b""):
            self.buffer = io.BytesIO(data)

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdout", console := Console())
    write(CORPUS, "-", "conll")
    assert console.buffer.getvalue().decode() == TEXT
    monkeypatch.setattr(sys, "stdin", console := Console(TEXT.encode()))
    corpus = read("-")
    assert corpus == CORPUS
    assert corpus.report.name == "standard input"
    assert not console.buffer.closed
    monkeypatch.setattr(sys, "stdin", Console(b"a O\nb\n"))
    with pytest.raises(FormatError, match=r"^standard input:2: "):
        read("-", "conll")


def test_other_encodings(tmp_path):
    path = tmp_path / "file"
    for encoding in ("latin-1", "utf-16"):
        path.write_bytes(TEXT.encode(encoding))
        assert read(path, encoding=encoding) == CORPUS
    path.write_bytes(b"a\tO\n" * 20_000 + TEXT.encode("latin-1"))
    for format in ("conll", "text", "inline"):
        with pytest.raises(
            FormatError, match=r"file:20001: this is not text in utf-8 \(byte 0xeb\).*encoding='cp1252'"
        ):
            read(path, format)
    with pytest.raises(FormatError, match="not text in utf-8"):
        read(io.BytesIO(TEXT.encode("utf-16-le")))
    assert read(io.BytesIO(TEXT.encode("utf-16"))) == CORPUS
    with pytest.raises(FormatError, match="not text in utf-16"):
        read(io.BytesIO(b"abc"), "conll", encoding="utf-16")


def test_a_mark_that_belongs_to_the_text_is_kept():
    sentence = Sentence(("\ufeff", "a"), ())
    file = io.BytesIO()
    write([sentence], file, "conll")
    file.seek(0)
    assert read(file, "conll") == [sentence]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"none\.txt: cannot be read: No such file"):
        read(tmp_path / "none.txt")
    with pytest.raises(FileError, match="cannot be read"):
        read(tmp_path)
    with pytest.raises(FileError, match="NUL"):
        read("a\0b")
    file = io.StringIO()
    file.close()
    with pytest.raises(FileError, match="closed"):
        read(file)
    with pytest.raises(DataError, match="a path or an open file is needed"):
        read(3)


def test_damaged_gzip(tmp_path):
    path = tmp_path / "a.gz"
    packed = gzip.compress(TEXT.encode() * 5000)
    for damaged in (packed[:100], packed[:-6], packed[:50] + b"\0\0\0\0" + packed[54:]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"a\.gz: the gzip file is damaged or cut off"):
            read(path, "text")
        with pytest.raises(FormatError, match=r"a\.gz:(?:\d+:)? "):  # the damage may be seen in a line before the end
            read(path, "conll")


def test_writing_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def failing():
        yield CORPUS[0]
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write(failing(), path, "conll")
    with pytest.raises(DataError, match="CoNLL cannot hold"):
        write([CORPUS[0], Sentence(("a\tb",))], path, "conll")
    with pytest.raises(DataError, match="surrogate pair"):
        write([Sentence(("\ud800",))], path, "conll")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_can_be_written_over_while_it_is_read(tmp_path):
    path = tmp_path / "file"
    write(CORPUS, path, "conll")
    write(stream(path), path, "conll", scheme="BIOES")
    assert read(path) == CORPUS
    assert read(path).report.scheme == "BIOES"


def test_links_and_folders(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write(CORPUS, link, "conll")
    assert link.is_symlink()
    assert read(target) == CORPUS
    with pytest.raises(FileError, match="is a folder"):
        write(CORPUS, tmp_path, "conll")
    with pytest.raises(FileError, match="cannot be written"):
        write(CORPUS, tmp_path / "none" / "file", "conll")
