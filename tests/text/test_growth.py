"""No text takes more time than its length explains: what a stranger sends may be the worst there is."""

import contextlib
import io

import pytest

from growth import grows_as
from handful.errors import HandfulError
from handful.text import FORMATS, Document, read_types, write
from handful.text.borders import borders_of
from handful.text.guidelines import guideline_of

from .strategies import read_bytes

pytestmark = pytest.mark.exhaustive

PIECES = [
    "[", "]", "(", ")", "[a](", "(a)[", '[a]("', "\\", '"', "'", "{", '{"', "[[", "# a: ", "# ", "| ", "a|", "!a",
    "B-a ", "O ", " ", "\t", "\n", " \n", "\v", "\u3000", "a", "a\tB-a\n", "a.", ". ", "你", "\u200d", "\u0301",
    "<!--", "-", "*", "(a*", "a,", '"a"', "=",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_reading_is_linear(piece):
    """In each format, and where the format has to be recognised."""

    def run(data):
        for format in (None, *(one for one in FORMATS if one != "docbin")):
            with contextlib.suppress(HandfulError):
                read_bytes(data, format, unlabelled=format is None)
        with contextlib.suppress(HandfulError):
            read_types(io.StringIO(data))

    assert grows_as(run, lambda n: "x" + piece * n + "x", 200) < 1.55


@pytest.mark.parametrize("piece", PIECES)
def test_writing_is_linear(piece):
    def run(document):
        for format in (one for one in FORMATS if one != "docbin"):
            with contextlib.suppress(HandfulError):
                write([document], io.BytesIO(), format)

    assert grows_as(run, lambda n: Document.of("x " + piece * n + " x"), 200) < 1.55


WORDS = [
    "not ", "but not ", "a but not a, ", "yet not ", "not only ", "a, ", "a ", "and ", "or ", "; ", "(", ") ",
    "such as ", "except for ", "with ", "the title, ", "titles ", "his or her title, ", "'a', ", '"b", ', '", ',
    "before it ", "included ", "are left out ",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_descriptions_are_read_in_linear_time(word):
    for piece in (word, *(word + other for other in WORDS), *(other + word for other in WORDS)):
        for start in ("", "x, ", "x; "):
            for read in (borders_of.__wrapped__, guideline_of.__wrapped__):
                assert grows_as(read, lambda n, start=start, piece=piece: start + piece * n, 20) < 1.5, (start, piece)
