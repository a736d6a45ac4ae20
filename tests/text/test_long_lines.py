"""A line of any length passes through in parts, which together are the line."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import _plain, read, stream, to_sentences


class Endless(io.RawIOBase):
    """A file of bytes that are made as they are read."""

    def __init__(self, piece, n_bytes):
        self._piece = piece
        self._left = n_bytes

    def readable(self):
        return True

    def readinto(self, buffer):
        n = min(len(buffer), self._left, len(self._piece))
        buffer[:n] = self._piece[:n]
        self._left -= n
        return n


def parts_of(text, longest, format="text"):
    before, _plain.LONGEST = _plain.LONGEST, longest
    try:
        return list(stream(io.StringIO(text), format))
    finally:
        _plain.LONGEST = before


# Sentences, words and gaps; full stops inside words, and those of other scripts.
WORDS = ["He left.", "Dr. Ekeus", "to the U.N.", "3,000.50", "ab", "!", '"', "。", "中の", "e.g.", "\u0301"]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([" ", "  ", "\t", ""])), max_size=30).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


def places(sentences, offset=0):
    """Return the places of all characters of words."""
    words = (
        (offset + sentence.offset + start, word)
        for sentence in sentences
        for start, word in zip(sentence.starts, sentence.words, strict=True)
    )
    return {place for start, word in words for place in range(start, start + len(word))}


@given(texts, st.integers(10, 40))
def test_parts_are_the_line_and_no_word_is_lost(text, longest):
    parts = parts_of(text, longest)
    if len(text) <= longest:
        assert [(part.text, part.meta) for part in parts] == ([(text, {})] if to_sentences(text) else [])
        return
    covered = set()
    for part in parts:
        start = part.meta["offset"]
        assert text[start : start + len(part.text)] == part.text
        assert len(part.text) <= longest
        for one in part.sentences:
            assert part.text[one.offset : one.offset + len(one.text)] == one.text
        covered |= places(part.sentences, start)
    assert covered == places(to_sentences(text))


SENTENCES = "Dr. Ekeus heads for Baghdad. He left the U.N. office at 3.15 p.m. (or so they say)!  Who knows? "


@pytest.mark.parametrize("longest", [100, 101, 150, 999])
def test_where_sentences_end_nothing_changes_but_the_cuts(longest):
    text = SENTENCES * 40
    parts = parts_of(text, longest)
    assert "".join(part.text for part in parts) == text
    found = [(part.meta["offset"] + one.offset, one.words, one.starts) for part in parts for one in part.sentences]
    assert found == [(one.offset, one.words, one.starts) for one in to_sentences(text)]
    assert len(parts) > 2


def test_lines_around_a_long_one_are_as_they_were():
    text = "First one.\n" + SENTENCES * 5 + "\nLast one.\n"
    parts = parts_of(text, 200)
    assert (parts[0].text, parts[0].meta) == ("First one.", {})
    assert (parts[-1].text, parts[-1].meta) == ("Last one.", {})
    assert "".join(part.text for part in parts[1:-1]) == SENTENCES * 5
    assert parts[1].meta == {"offset": 0}


def test_a_long_block_of_wrapped_lines_is_cut_too():
    line = "and then we went on and on until the evening came and all of us were tired .\n"
    text = f"{line * 3}\n{line * 50}\n{line * 2}"
    parts = parts_of(text, 1_000)
    assert [part.text for part in (parts[0], parts[-1])] == [(line * 3)[:-1], (line * 2)[:-1]]
    assert "".join(part.text for part in parts[1:-1]) == (line * 50)[:-1]
    assert len(parts) > 4


def test_what_was_cut_is_said():
    with stream(io.StringIO("x y. Z " * 60_000)) as documents:
        n = sum(1 for _ in documents)
    (line,) = documents.report.handled()
    assert line.startswith(f"{n} parts were made of texts of more than 100,000 characters")
    assert n == 5


def test_memory_does_not_grow_with_the_line():
    n_words = {}
    peaks = {}
    for n_bytes in (300_000, 2_400_000):
        file = Endless(b"the quick brown fox jumps over the lazy dog . It barks . " * 50, n_bytes)
        tracemalloc.start()
        n_words[n_bytes] = sum(document.n_words for document in stream(file, "text"))
        peaks[n_bytes] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert n_words[2_400_000] == pytest.approx(8 * n_words[300_000], rel=0.001)
    assert peaks[2_400_000] < 1.5 * peaks[300_000]


def test_learning_from_a_long_line_sees_the_same_sentences():
    text = SENTENCES * 2_000
    assert [s.words for s in read(io.StringIO(text), "text")] == [s.words for s in to_sentences(text)]


@pytest.mark.parametrize(("wrapped", "n"), [(None, 2), (True, 2), (False, 4)])
def test_whether_lines_are_wrapped_can_be_said(tmp_path, wrapped, n):
    path = tmp_path / "text.txt"
    path.write_text(
        "a text of many words that\ngoes on below this line\n\none more of many words\nthat goes on as well\n"
    )
    assert len(list(stream(path, "text", wrapped=wrapped))) == n
    with pytest.raises(DataError, match="wrapped is 'no', expected True or False"):
        stream(path, wrapped="no")
