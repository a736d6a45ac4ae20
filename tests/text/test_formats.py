"""Round trips between formats, streams, options."""

import io
import itertools
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import (
    FORMATS,
    READ_ONLY,
    SCHEMES,
    ReadOptions,
    Sentence,
    Span,
    read,
    stream,
    to_sentence,
    write,
)
from handful.text.formats import TABLE

from .strategies import (
    few,
    modest,
    read_bytes,
    sentences,
    strange_texts,
    strange_words,
    stream_bytes,
    tame_words,
    text_sentences,
    written,
)

HOLD_WORDS = ("conll", "huggingface", "gliner", "prodigy")
HOLD_TEXT = ("prodigy", "doccano", "spacy", "label-studio", "jsonl", "csv", "tsv", "docbin", "inline")
ALL = tuple(dict.fromkeys(HOLD_WORDS + HOLD_TEXT))


def pairs(formats):
    """Return each format with itself and with two others."""
    return [(one, formats[(i + step) % len(formats)]) for i, one in enumerate(formats) for step in (0, 1, 4)]


# Words that tags can be written to: no ASCII white space, no document mark, and nothing blank.
plain_words = strange_words.filter(
    lambda word: not set(word) & set(" \t\r\n") and word != "-DOCSTART-" and word.strip()
)
one_line_texts = strange_texts.map(lambda text: text.replace("\n", " ").replace("\r", " "))


def labels_of(corpus):
    return [(sentence.words, sentence.spans, sentence.allowed) for sentence in corpus]


def passed(corpus, *formats):
    """Write and read in one format after the other, each sentence as a document."""
    for format in formats:
        corpus = [document.as_sentence() for document in stream_bytes(written(corpus, format), format)]
    return corpus


@pytest.mark.parametrize(("one", "other"), pairs(HOLD_WORDS))
@given(st.lists(sentences(plain_words), max_size=3))
@few
def test_words_and_labels_pass_between_formats_that_hold_words(one, other, corpus):
    assert labels_of(passed(corpus, one, other)) == labels_of(corpus)


@pytest.mark.parametrize(("one", "other"), pairs(HOLD_TEXT))
@given(st.lists(text_sentences(one_line_texts), max_size=3))
@few
def test_text_words_and_labels_pass_between_formats_that_hold_text(one, other, corpus):
    assert passed(corpus, one, other) == corpus


@pytest.mark.parametrize("format", [format for format in HOLD_TEXT if format not in ("inline", "csv", "tsv")])
@given(st.lists(text_sentences(), max_size=3))
@modest
def test_json_holds_line_breaks_too(format, corpus):
    assert passed(corpus, format) == corpus


@given(st.lists(sentences(), max_size=3))
@modest
def test_prodigy_and_huggingface_hold_any_words(corpus):
    assert read_bytes(written(corpus, "huggingface"), "huggingface") == corpus
    assert read_bytes(written(corpus, "gliner"), "gliner") == corpus
    if any(not word.strip() for sentence in corpus for word in sentence.words):
        with pytest.raises(DataError, match="a token of white space is a gap"):
            written(corpus, "prodigy")
    else:
        assert labels_of(passed(corpus, "prodigy")) == labels_of(corpus)


@pytest.mark.parametrize("format", ["jsonl", "csv", "doccano", "spacy", "label-studio", "inline"])
@pytest.mark.parametrize("blank", [" ", "\0", "\u200b", "\u00ad"])
def test_a_label_on_nothing_visible_is_not_written_as_text(format, blank):
    corpus = [Sentence(("a", blank, "b"), (Span(1, 2, "PEST"),))]
    with pytest.raises(DataError, match=r"cannot hold the PEST .* in .*: nothing is visible in it"):
        written(corpus, format)


def is_stable(words):
    """Whether words joined by spaces are found again: then formats that hold only the text can carry them."""
    return to_sentence(" ".join(words)).words == tuple(words)


@pytest.mark.parametrize(("one", "other"), pairs(ALL))
@given(sentences(tame_words))
@few
def test_ordinary_words_pass_between_all_formats(one, other, sentence):
    assume(is_stable(sentence.words))
    assert labels_of(passed([sentence], one, other)) == labels_of([sentence])


@given(text_sentences(one_line_texts, partial=False).map(Sentence.without_labels))
@modest
def test_plain_text_brings_back_the_words(sentence):
    back = read_bytes(written([sentence], "text"), "text")
    assert [word for part in back for word in part.words] == list(sentence.words)


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme not in ("IO", "types")])
@pytest.mark.parametrize("format", ["conll", "huggingface"])
@given(st.lists(sentences(plain_words), max_size=3))
@few
def test_every_scheme_in_every_format_with_tags(scheme, format, corpus):
    assert read_bytes(written(corpus, format, scheme=scheme), format) == corpus


def test_writing_says_how_many_mentions_a_scheme_merged():
    sentence = Sentence(("a", "b", "c"), (Span(0, 1, "X"), Span(1, 2, "X"), Span(2, 3, "Y")))
    for scheme, n_merged in (("IO", 1), ("types", 1), ("BIO", 0), ("IOB1", 0)):
        report = write([sentence, sentence], io.BytesIO(), "conll", scheme=scheme)
        assert (report.n_sentences, report.n_merged) == (2, 2 * n_merged)
    assert write([sentence], io.BytesIO(), "prodigy", scheme="IO").n_merged == 0


def test_writing_says_when_words_will_be_read_differently():
    split = Sentence(("New York", "left"))
    report = write([split, Sentence(("a", "b"))], io.BytesIO(), "doccano")
    assert list(report.notes.values()) == [1]
    assert not write([split], io.BytesIO(), "prodigy").notes


@pytest.mark.parametrize("format", FORMATS)
def test_no_sentences(format):
    assert read_bytes(written([], format), format) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_gives_what_read_gives(format, tmp_path):
    corpus = [to_sentence(f"Word {i} of many .") for i in range(2000)]
    path = tmp_path / "file"
    write(iter(corpus), path, format)
    whole = read(path, format)
    with stream(path, format) as documents:
        assert next(documents).sentences == (whole[0].with_text(),)
        assert [document.sentences for document in documents] == [(one.with_text(),) for one in whole[1:]]
        assert documents.report == whole.report
        assert documents.types == whole.types == ()
    assert whole.report.n_sentences == 2000


class Endless(io.RawIOBase):
    """A file that repeats itself for ever."""

    def __init__(self, first, then):
        self._rest = first
        self._then = then
        self.n_read = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        while len(self._rest) < len(buffer):
            self._rest += self._then
        buffer[:] = self._rest[: len(buffer)]
        self._rest = self._rest[len(buffer) :]
        self.n_read += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "docbin"])
def test_a_stream_reads_no_more_than_it_needs(format):
    sentence = Sentence(tuple(f"word{i}" for i in range(50)), ())
    data = written([sentence], format)
    record = data
    if format in ("csv", "tsv"):
        record = data.partition(b"\n")[2]
    if format in ("label-studio", "gliner"):
        data = data.removesuffix(b"]\n")
        record = b"," + data.removeprefix(b"[\n")
    file = Endless(data, record)
    with stream(file, format) as documents:
        for back in itertools.islice(documents, 2000):
            assert [one.words for one in back.sentences] == [sentence.words]
    assert file.n_read < 2000 * len(data) + 3_000_000


def test_a_stream_that_is_dropped_closes_its_file(tmp_path):
    path = tmp_path / "file"
    write([Sentence(("a",))], path, "conll")
    stream(path, "conll")  # an unclosed file would be a warning, which is an error here
    parts = stream(path, "conll")
    next(parts)
    del parts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "format is 'xml', expected one of json, project"),
        ({"unmarked": "x"}, "unmarked is 'x', expected one of O, unknown"),
        ({"misaligned": "drop"}, "misaligned is 'drop'"),
        ({"malformed": "ignore"}, "malformed is 'ignore'"),
        ({"scheme": "bio"}, "scheme is 'bio', expected one of IO, types"),
        ({"tag_names": "O"}, "tag_names is 'O'"),
        ({"encoding": "utf-9"}, "no text encoding 'utf-9'"),
        ({"encoding": 8}, "encoding is 8"),
        ({"encoding": "a\0b"}, "no text encoding"),
        ({"unlabelled": "yes"}, "unlabelled is 'yes', expected True or False"),
        ({"unlabeled": True}, "no reading option 'unlabeled'; the options are format, scheme, .*, unlabelled$"),
    ],
)
def test_options_that_do_not_exist(options, message):
    with pytest.raises(DataError, match=message):
        read_bytes("a O\n", **options)


def test_options_are_one_object():
    assert ReadOptions() == ReadOptions(format=None, encoding="utf-8")
    with pytest.raises(DataError, match="malformed is 'ignore', expected one of error, skip"):
        ReadOptions(malformed="ignore")
    with pytest.raises(FrozenInstanceError):
        ReadOptions().format = "conll"


def test_one_table_names_the_formats():
    assert (*READ_ONLY, *FORMATS) == tuple(TABLE)
    for name, one in TABLE.items():
        assert (one.name, one.write is not None) == (name, name in FORMATS)


def test_the_docs_have_the_same_table():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.split("\n") if line.startswith("|")]
    columns = rows[0][2:-1]
    for one in TABLE.values():
        unit = "" if one.write is None else "sentence" if one.by_sentence else "document"
        holds = ["yes" if what in one.holds else "no" for what in columns]
        assert [f"`{one.name}`", one.about.replace("``", "`"), *holds, unit] in rows


def test_writing_what_is_no_sentence():
    with pytest.raises(DataError, match="a Sentence or a Document, not 'a'"):
        written(["a"], "conll")
    with pytest.raises(DataError, match="format is 'json'"):
        written([], "json")
