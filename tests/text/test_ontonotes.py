"""OntoNotes in the files of CoNLL-2012; the text is made up."""

import pytest

from handful.errors import DataError, FormatError
from handful.text import Span, read

from .strategies import read_bytes


def document(name, *sentences):
    """Write a document: each sentence is a list of words and brackets."""
    lines = [f"#begin document ({name}); part 000"]
    for sentence in sentences:
        for i, (word, brackets) in enumerate(sentence):
            row = [name, "0", i, word, "NN", "(TOP*", "-", "-", "-", "Speaker#1", f"{brackets:>8}", "(ARG0*", "-"]
            lines.append("   ".join(map(str, row)))
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


NAMED = document(
    "bc/made/00/made_0001",
    [("Anna", "(PERSON*"), ("Berg", "*)"), ("left", "*"), ("Oslo", "(GPE)"), (".", "*")],
    [("The", "(WORK_OF_ART*"), ("Long", "*"), ("Way", "*)"), ("/.", "*")],
    [("Nothing", "*"), ("here", "*")],
)
UNNAMED = document("wb/made/00/made_0002", [("Anna", "*"), ("slept", "*")], [("So", "*")])


def test_names_are_read_from_brackets():
    corpus = read_bytes(NAMED)
    assert corpus.report.format == "conll-2012"
    assert [(sentence.words, sentence.spans) for sentence in corpus] == [
        (("Anna", "Berg", "left", "Oslo", "."), (Span(0, 2, "PERSON"), Span(3, 4, "GPE"))),
        (("The", "Long", "Way", "/."), (Span(0, 3, "WORK_OF_ART"),)),
        (("Nothing", "here"), ()),
    ]


def test_documents_without_names_can_be_left_out_and_are_counted():
    text = UNNAMED + NAMED + UNNAMED
    assert len(read_bytes(text)) == 7
    corpus = read_bytes(text, unnamed="skip")
    assert list(corpus) == list(read_bytes(NAMED))
    assert corpus.report.notes["documents without any mention were left out"] == 2


def test_the_same_with_docstart_lines():
    text = "-DOCSTART- -X- O O\n\nIt NN O O\n\n-DOCSTART- -X- O O\n\nIt NN O O\n\nOslo NN O I-LOC\n"
    assert len(read_bytes(text)) == 3
    corpus = read_bytes(text, unnamed="skip")
    assert [sentence.words for sentence in corpus] == [("It",), ("Oslo",)]
    assert corpus.report.notes["documents without any mention were left out"] == 1


def test_elsewhere_a_file_is_a_document():
    assert len(read_bytes("It O\n\nOslo B-LOC\n", unnamed="skip")) == 2
    assert len(read_bytes("It O\n\nwas O\n", unnamed="skip")) == 0
    assert len(read_bytes("[Oslo](LOC) is far.\nSo it is.\n", unnamed="skip")) == 2
    with pytest.raises(DataError, match="unnamed is 'drop', expected one of keep, skip"):
        read(__file__, unnamed="drop")


@pytest.mark.parametrize(
    ("brackets", "message"),
    [
        (["*", "*)"], r":3: found '\*\)' in column 11, outside any name"),
        (["(ORG*", "(GPE)"], r":3: found '\(GPE\)' in column 11, within a name"),
        (["(ORG*", "*"], r":2: the name ORG is not closed"),
        (["ORG", "*"], r":2: found 'ORG' in column 11"),
        (["(|*", "*)"], r":2: a type cannot be called '\|'"),
    ],
)
def test_broken_brackets_are_an_error_with_their_line(brackets, message):
    text = document("x", [(f"w{i}", one) for i, one in enumerate(brackets)], [("fine", "(ORG)")])
    with pytest.raises(FormatError, match=message):
        read_bytes(text)
    corpus = read_bytes(text, malformed="skip")
    assert [sentence.words for sentence in corpus] == [("fine",)]
    assert corpus.report.n_skipped == 1


def test_too_few_columns():
    with pytest.raises(FormatError, match=r":3: found 4 columns, expected at least 11"):
        read_bytes("#begin document (x); part 000\n\nx 0 0 word\n")


def test_unmarked_words_can_be_open():
    sentence = read_bytes(NAMED, unmarked="unknown")[0]
    assert [str(entry) if entry else None for entry in sentence.allowed] == [None, None, "_", None, "_"]
