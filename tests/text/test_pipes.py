"""Text that comes piece by piece: each line can be had as soon as it is there."""

import io
import os
import sys

import pytest

from handful.errors import FormatError
from handful.text import read, stream

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there whether they have text")


@pytest.fixture
def pipe():
    """Make a pipe: what to read from, and a function that writes."""
    ours, theirs = os.pipe()
    with open(ours, "rb") as reader, open(theirs, "wb", buffering=0) as writer:
        yield reader, writer


def test_each_line_comes_before_the_next_is_written(pipe):
    reader, writer = pipe
    writer.write(b"Ekeus left.\n")
    with stream(reader) as documents:
        assert next(documents).text == "Ekeus left."
        assert not documents.is_ready(0)
        writer.write("the café".encode()[:-1])  # half a character, half a line
        assert not documents.is_ready(0.01)
        writer.write("é\nand\n\n".encode()[1:])
        assert documents.is_ready(0)
        assert next(documents).text == "the café"
        assert documents.is_ready(0)
        assert next(documents).text == "and"
        assert not documents.is_ready(0)  # for there is a blank line, and no other
        writer.write(b"\n \n")
        assert not documents.is_ready(0)
        writer.close()
        assert documents.is_ready(0)  # to say that it is over
        assert list(documents) == []
    assert documents.report.n_words == 6


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (b'{"text": "Ekeus left"}\n', b'{"text": "He went"}\n', ["Ekeus left", "He went"]),
        (b"Ekeus\tB-PER\nleft\tO\n\n", b"He\tO\nwent\tO\n\n", ["Ekeus left", "He went"]),
    ],
    ids=["jsonl", "conll"],
)
def test_other_formats_come_record_by_record(pipe, first, second, found):
    reader, writer = pipe
    writer.write(first)
    with stream(reader) as documents:
        assert next(documents).text == found[0]
        assert not documents.is_ready(0)
        writer.write(second)
        assert documents.is_ready(0)
        assert next(documents).text == found[1]


def test_a_record_over_several_lines_is_waited_for(pipe):
    reader, writer = pipe
    writer.write(b'{\n"text": "Ekeus left"}\n')
    writer.close()
    assert [s.words for s in read(reader)] == [("Ekeus", "left")]


def test_a_file_is_always_ready(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with stream(tmp_path / "a.txt") as documents:
        assert [documents.is_ready(0) for _ in documents] == [True, True]
    with stream(io.StringIO("one\ntwo\n")) as documents:
        assert [documents.is_ready(0) for _ in documents] == [True, True]


def test_what_was_written_goes_out_before_more_is_waited_for(pipe, monkeypatch):
    reader, writer = pipe
    n_flushed = 0

    class Output(io.StringIO):
        def flush(self):
            nonlocal n_flushed
            n_flushed += 1
            writer.write(b"two\n")  # whoever waits for the answer goes on

    monkeypatch.setattr(sys, "stdout", Output())
    writer.write(b"one\n")
    with stream(reader) as documents:
        assert next(documents).text == "one"
        assert n_flushed == 0
        assert next(documents).text == "two"
        assert n_flushed == 1


def test_the_share_of_a_file_that_was_read(tmp_path, pipe):
    lines = "".join(f"line {i}\n" for i in range(50_000))
    (tmp_path / "a.txt").write_text(lines)
    with stream(tmp_path / "a.txt") as documents:
        shares = [documents.share for _ in documents]
    assert shares == sorted(shares)
    assert shares[24_999] == pytest.approx(0.5, abs=0.02)
    assert shares[-1] == pytest.approx(1)
    reader, writer = pipe
    writer.write(b"one\n")
    writer.close()
    with stream(reader) as documents:
        next(documents)
        assert documents.share is None


def test_nothing_on_standard_input_is_a_text_without_lines(monkeypatch):
    class Input:
        buffer = io.BytesIO(b" \n\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert read("-", unlabelled=True) == []
    Input.buffer.seek(0)
    with pytest.raises(FormatError, match="standard input: is empty"):
        read("-")
    with pytest.raises(FormatError, match="is empty"):
        read(io.BytesIO(b"\n"), unlabelled=True)
