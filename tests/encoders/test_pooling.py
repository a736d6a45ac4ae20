import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.encoders.pooling import lay_out, pool
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import EncoderError


def letters(words):
    """Split a word into one sub-word a letter; the id says which."""
    return [[ord(letter) for letter in word] for word in words]


def make_tokenizer(split=letters):
    return WordTokenizer(split, prefix=[1], suffix=[2, 3], pad_id=0, unknown_id=9, content=b"")


LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=40)
WINDOWS = st.integers(4, 20)


@given(lengths=LENGTHS, window=WINDOWS, is_whole=st.booleans())
def test_every_word_gets_its_own_subwords_alone(lengths, window, is_whole):
    numbers = iter(range(100, 10_000))
    subwords = [[next(numbers) for _ in range(n)] for n in lengths]
    used = [ids if is_whole else {ids[0], ids[-1]} for ids in subwords]
    found = [{} for _ in lengths]
    for piece in lay_out(subwords, make_tokenizer(), window=window, is_whole=is_whole):
        assert len(piece.ids) <= window
        assert piece.ids[0] == 1
        assert piece.ids[-2:] == [2, 3]
        for word, position in zip(piece.words, piece.positions, strict=True):
            token = piece.ids[position]
            found[word][token] = found[word].get(token, 0) + 1
    assert found == [dict.fromkeys(ids, 1 if is_whole else 2 // len(ids)) for ids in used]


@given(lengths=LENGTHS, window=WINDOWS)
def test_a_word_comes_from_the_window_where_it_is_furthest_from_an_edge(lengths, window):
    numbers = iter(range(100, 10_000))
    subwords = [[next(numbers) for _ in range(n)] for n in lengths]
    # The windows as stated: they overlap by half, and the last one ends where the sentence ends.
    tokens = [token for ids in subwords for token in ids]
    room = window - 3
    starts = [0]
    while starts[-1] + room < len(tokens):
        starts.append(min(starts[-1] + max(1, room // 2), len(tokens) - room))
    contents = [tokens[start : start + room] for start in starts]
    for piece in lay_out(subwords, make_tokenizer(), window=window):
        inside = piece.ids[1:-2]
        for word, position in zip(piece.words, piece.positions, strict=True):
            ids = subwords[word]
            holders = [content for content in contents if all(token in content for token in ids)]
            if not holders:  # longer than a window: sub-word by sub-word
                ids = [piece.ids[position]]
                holders = [content for content in contents if ids[0] in content]

            def distance(content, ids=ids):
                return min(content.index(ids[0]), len(content) - 1 - content.index(ids[-1]))

            assert inside in contents
            assert distance(inside) == max(map(distance, holders))


@given(lengths=LENGTHS, window=WINDOWS, is_whole=st.booleans())
def test_words_are_numbered_from_the_first_and_in_order(lengths, window, is_whole):
    subwords = [[7] * n for n in lengths]
    pieces = list(lay_out(subwords, make_tokenizer(), window=window, first=5, is_whole=is_whole))
    words = [word for piece in pieces for word in piece.words]
    assert words == sorted(words)
    assert set(words) == set(range(5, 5 + len(lengths)))


def test_an_empty_sentence_has_no_pieces():
    assert list(lay_out([], make_tokenizer(), window=8)) == []


@given(counts=st.lists(st.integers(1, 2), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_pool_is_half_of_the_sum(counts, seed):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(20, 3)).astype(np.float32)
    words = np.repeat(np.arange(len(counts)) * 2 + 1, counts)
    positions = rng.integers(0, 20, len(words))
    numbers, vectors = pool(hidden, words, positions)
    assert numbers.tolist() == [2 * i + 1 for i in range(len(counts))]
    for number, vector in zip(numbers, vectors, strict=True):
        of_word = [hidden[positions[c]] / 2 for c in range(len(words)) if words[c] == number]
        np.testing.assert_allclose(vector, np.sum(of_word, axis=0), rtol=1e-5, atol=1e-6)


def test_words_that_leave_nothing_become_the_unknown_token():
    tokenizer = make_tokenizer()
    assert tokenizer(["ab", "", "c", ""]) == [[97, 98], [9], [99], [9]]


def test_lone_surrogates_are_split_as_replacement_characters():
    assert make_tokenizer()(["a\ud800b", "\U0001f600"]) == [[97, 0xFFFD, 98], [0x1F600]]


@pytest.mark.parametrize("words", [["a", None], ["a", ["b"]], [b"a"], [3]])
def test_words_must_be_str(words):
    with pytest.raises(EncoderError, match="words are str, found"):
        make_tokenizer()(words)


def test_each_word_is_split_once():
    seen = []

    def split(words):
        seen.extend(words)
        return letters(words)

    tokenizer = make_tokenizer(split)
    tokenizer(["a", "b", "a"])
    tokenizer(["b", "c"])
    assert seen == ["a", "b", "c"]


def test_long_words_are_not_all_remembered():
    """A stranger may send any number of them."""
    tokenizer = make_tokenizer()
    for i in range(20):
        tokenizer([f"{i}{'a' * 2**20}"])
    assert sum(map(len, tokenizer._known)) < 6 * 2**20


def test_words_are_found_though_another_thread_forgets_them(monkeypatch):
    monkeypatch.setattr("handful.encoders.tokenizer._REMEMBERED", 2)
    busy = []

    def split(words):  # as if another thread came in between
        if not busy:
            busy.append(1)
            tokenizer(["d", "e", "f", "g"])
            tokenizer(["h"])
        return letters(words)

    tokenizer = make_tokenizer(split)
    busy.append(1)
    tokenizer(["a", "b"])
    busy.clear()
    assert tokenizer(["a", "b", "c"]) == letters(["a", "b", "c"])
