"""What `Encoder.encode` promises, with any network."""

import numpy as np
import pytest
from models import TEXT

from handful.encoders import _network_encoder as module
from handful.encoders import load
from handful.encoders.opened import NetworkEncoder
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import EncoderError

SENTENCES = [text.split()[:n] for text in TEXT for n in (1, 2, 3, 5, 8, 12)]
N_WORDS = sum(map(len, SENTENCES))


class Words:
    def __init__(self, words):
        self.words = tuple(words)


def alone(encoder, sentences):
    return np.concatenate([encoder.encode([sentence]) for sentence in sentences])


@pytest.mark.parametrize("family", ["bert", "mpnet", "deberta_v3"])
def test_float32_does_not_depend_on_the_batch(source, exported, family):
    for folder in (source(family), exported(family)):
        encoder = load(folder, precision="float32")
        expected = alone(encoder, SENTENCES)
        for batch_tokens in (1, 40, 100_000):
            encoder.batch_tokens = batch_tokens
            np.testing.assert_allclose(encoder.encode(SENTENCES), expected, rtol=0, atol=1e-5)


def test_int8_does_not_depend_on_the_batch(exported):
    # A difference of 1e-7 before a rounding may flip it, which moves a vector by a step of its row's scale.
    encoder = load(exported("mpnet", int8=True))
    expected = alone(encoder, SENTENCES)
    for batch_tokens in (1, 40, 100_000):
        encoder.batch_tokens = batch_tokens
        error = np.linalg.norm(encoder.encode(SENTENCES) - expected, axis=1)
        assert (error <= 0.02 * np.linalg.norm(expected, axis=1)).all()


def test_chunks_do_not_change_the_result(exported, monkeypatch):
    encoder = load(exported("bert"))
    expected = encoder.encode(SENTENCES)
    monkeypatch.setattr(module, "_CHUNK_BATCHES", 0.005)
    np.testing.assert_allclose(encoder.encode(SENTENCES), expected, rtol=0, atol=1e-5)


def test_objects_with_words_and_lists_are_the_same(exported):
    encoder = load(exported("bert"))
    expected = encoder.encode(SENTENCES)
    assert np.array_equal(encoder.encode([Words(words) for words in SENTENCES]), expected)
    assert np.array_equal(encoder.encode(tuple(map(tuple, SENTENCES))), expected)
    assert np.array_equal(encoder.encode(iter(SENTENCES)), expected)


def test_nothing_to_encode(exported):
    encoder = load(exported("bert"))
    assert encoder.encode([]).shape == (0, 32)
    assert encoder.encode([[], ()]).shape == (0, 32)
    assert np.array_equal(encoder.encode([[], ["a"], []]), encoder.encode([["a"]]))


class PositionsNetwork:
    """The vector of a token says which token it is, and how many tokens are left and right of it."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def run(self, inputs):
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        left = np.cumsum(mask, axis=1) - 1
        right = mask.sum(axis=1, keepdims=True) - 1 - left
        return np.stack([ids, left, right], axis=2).astype(np.float32) * np.float32(self.factor)

    def identity(self):
        return b"positions %f" % self.factor


def split_numbers(words):
    return [[int(word)] * (int(word) % 7 + 1) if int(word) < 500 else [int(word)] * 100 for word in words]


def make_encoder(window, factor=1.0, **options):
    tokenizer = WordTokenizer(split_numbers, prefix=[0], suffix=[0], pad_id=0, unknown_id=1, content=b"")
    settings = {"dim": 3, "window": window}
    return NetworkEncoder(PositionsNetwork(factor), tokenizer, **(settings | options))


def test_long_sentences_keep_every_word():
    sentences = [[str(n) for n in range(2, 400)], ["3"], ["700", "5", "900", "6"], ["9"] * 50]
    found = make_encoder(32).encode(sentences)
    np.testing.assert_allclose(found[:, 0], [float(word) for words in sentences for word in words], rtol=1e-5)


def test_words_of_long_sentences_keep_their_distance_from_the_edges():
    # 30 places in a window, windows every 15 tokens: inside, no word is nearer than 7 to an edge.
    found = make_encoder(32).encode([["14"] * 1000])
    edge = np.minimum(found[:, 1], found[:, 2]) - 1
    assert edge[7:-7].min() >= 7


def test_long_sentences_agree_with_short_ones_where_they_fit(exported):
    encoder = load(exported("bert"))
    words = " ".join(TEXT).split() * 3
    vectors = encoder.encode([words])
    first = encoder.tokenizer(words)
    room = encoder.window - 2
    n_fit = next(n for n in range(len(words)) if sum(map(len, first[: n + 1])) > room)
    # The first window holds these sub-words (the last word may be cut); its early words come from it.
    cut = [token for ids in first for token in ids][:room]
    assert len(cut) == room
    window = encoder.network.run(
        {
            "input_ids": np.array([[*encoder.tokenizer.prefix, *cut, *encoder.tokenizer.suffix]]),
            "attention_mask": np.ones((1, encoder.window), np.int64),
        }
    )[0]
    at = 1
    for number in range(n_fit // 3):
        last = at + len(first[number]) - 1
        np.testing.assert_allclose(vectors[number], (window[at] + window[last]) / 2, atol=1e-5)
        at = last + 1


def test_chunks_change_nothing(exported, monkeypatch):
    encoder = load(exported("bert"))
    expected = encoder.encode(SENTENCES)
    monkeypatch.setattr(module, "_CHUNK_BATCHES", 0.02)
    np.testing.assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-6)


def test_values_that_are_not_finite_are_an_error():
    broken = make_encoder(32, factor=np.nan)
    with pytest.raises(EncoderError, match="not finite"):
        broken.encode([["3"]])


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("a text", r"found a str \('a'\); split texts into words first"),
        (["a text"], r"sentence 0 must be a list of words, found a str \('a text'\)"),
        ([["a"], 3], "sentence 1 must be a list of words, found int"),
        ([["a"], {"b"}], "sentence 1 must be a list of words, found set"),
        ([["a", None]], "sentence 0: words are str, found None"),
        ([["a"], ["b", 3]], "sentence 1: words are str, found 3"),
    ],
)
def test_wrong_sentences(exported, sentences, message):
    with pytest.raises(EncoderError, match=message):
        load(exported("bert")).encode(sentences)


def test_progress_callback_counts_words(exported):
    calls = []
    encoder = load(exported("bert"))
    encoder.batch_tokens = 30
    encoder.encode(SENTENCES, progress=lambda done, total: calls.append((done, total)))
    done = [n for n, _ in calls]
    assert {total for _, total in calls} == {N_WORDS}
    assert done == sorted(done)
    assert len(done) > 2
    assert done[-1] == N_WORDS


def test_progress_bar_goes_to_standard_error(exported, capsys):
    encoder = load(exported("bert"))
    encoder.encode(SENTENCES, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "words" in shown.err
    encoder.encode(SENTENCES)
    assert capsys.readouterr() == ("", "")


def test_fingerprint_follows_what_the_vectors_depend_on(source, exported):
    folders = [source("bert"), exported("bert"), exported("mpnet", int8=True), exported("mpnet")]
    prints = [load(folder).fingerprint for folder in folders]
    assert len(set(prints)) == len(prints)
    assert load(folders[0]).fingerprint == prints[0]
    assert load(folders[1], threads=1).fingerprint == prints[1]
