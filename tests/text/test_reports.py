"""What reading and writing say of what they handled, in Python and on the command line."""

import io

import pytest

from handful.errors import FormatError
from handful.text import Sentence, Span, read, write

from .strategies import read_bytes


def test_reading_says_one_line_for_each_thing():
    corpus = read_bytes("[Lon](LOC)don\n[a](O)\n[b](X)c\n", malformed="skip", misaligned="widen")
    report = corpus.report
    assert report.handled() == [
        "2 spans were widened to whole words",
        f"1 malformed place was skipped, the first: {report.skipped[0]}",
    ]
    assert str(report).split("\n") == [report.summary, *report.handled()]
    assert report.summary == "the open file: inline, 2 sentences, 2 words"


def test_the_first_skipped_place_has_its_advice():
    report = read_bytes("[Lon](LOC)don\n[Oslo](LOC)\n", malformed="skip").report
    assert report.handled()[0].endswith("mark whole words, or say misaligned='widen'")
    assert report.handled(shell=True)[0].endswith("mark whole words, or say handful convert --widen")


def test_writing_says_one_line_for_each_thing():
    sentence = Sentence(("New York", "Oslo"), (Span(0, 1, "X"), Span(1, 2, "X")))
    report = write([sentence], io.BytesIO(), "conll", scheme="IO")
    assert report.handled() == ["1 mention was merged with the one before it: the scheme has no borders"]
    assert write([sentence], io.BytesIO(), "doccano").handled(shell=True) == [
        "1 text will be read with other words: the format holds the text, not the words"
    ]
    assert write([sentence], io.BytesIO(), "prodigy").handled() == []


@pytest.mark.parametrize(
    ("text", "format", "python", "shell"),
    [
        ("[Lon](LOC)don", "inline", "misaligned='widen'", "--widen"),
        ("a B-X\n\nb Y\n", "conll", "say scheme='types'", "handful.text.read(FILE, scheme='types') in Python"),
        ("a B-X\nb O\nthis is not\nthis neither\n", None, "format='conll'", "--from conll"),
        ('{"text": "a", "spans": [], "label": []}', None, "format='prodigy'", "--from prodigy"),
        ('{"tokens": ["a"], "ner_tags": [1]}', None, "as in tag_names=['O', ", "convert --tag-names O,B-PER,I-PER"),
    ],
)
def test_advice_for_python_and_the_command_line(text, format, python, shell):
    with pytest.raises(FormatError) as caught:
        read_bytes(text, format)
    assert python in str(caught.value)
    assert shell not in str(caught.value)
    assert shell in caught.value.for_shell


def test_advice_on_encodings(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("Zoë\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"file:1: this is not text in utf-8 .* encoding='cp1252'") as caught:
        read(path)
    assert "--encoding cp1252 or --encoding utf-16" in caught.value.for_shell
