"""An encoder with a cache returns what the encoder returns, and nothing is encoded twice."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from counting import CountingEncoder, assert_same, expected, sentences_of, stores_of
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.encoders.cache import CachedEncoder, FeatureCache
from handful.encoders.cache import _encoder as encoder_module
from handful.errors import EncoderError, HandfulWarning


def test_same_bytes_as_without_a_cache(cache):
    sentences = sentences_of(30)
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder, cache)
    assert (cached.dim, cached.fingerprint) == (8, "counting")
    assert_same(cached.encode(sentences), expected(sentences))
    assert_same(cached.encode(sentences), expected(sentences))
    assert len(encoder.seen) == 30


def test_another_process_finds_what_was_cached(cache):
    sentences = sentences_of(30)
    CachedEncoder(CountingEncoder(), cache).encode(sentences)
    encoder = CountingEncoder()
    for order in (sentences, sentences[::-1], sentences[7:9] + sentences[3:5], sentences[::3]):
        assert_same(CachedEncoder(encoder, FeatureCache(cache.path)).encode(order), expected(order))
    assert encoder.seen == []


def test_a_corpus_that_grew_by_ten_encodes_ten(cache):
    CachedEncoder(CountingEncoder(), cache).encode(sentences_of(50))
    encoder = CountingEncoder()
    grown = sentences_of(60)
    random.Random(0).shuffle(grown)
    assert_same(CachedEncoder(encoder, cache).encode(grown), expected(grown))
    assert sorted(encoder.seen) == sorted(tuple(sentence) for sentence in sentences_of(10, first=50))


def test_a_duplicate_is_encoded_once(cache):
    sentences = [["a", "b"], ["c"], ["a", "b"], ["a", "b"], ["c"]]
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder, cache)
    for _ in range(2):
        assert_same(cached.encode(sentences), expected(sentences))
    assert encoder.seen == [("a", "b"), ("c",)]


def test_sentence_objects_and_lists_are_the_same_sentence(cache):
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder, cache)
    cached.encode([SimpleNamespace(words=("a", "b"))])
    assert_same(cached.encode([["a", "b"]]), expected([["a", "b"]]))
    assert len(encoder.seen) == 1


def test_sentences_without_words_have_no_rows(cache):
    cached = CachedEncoder(CountingEncoder(), cache)
    for sentences in ([], [[]], [[], ["a"], [], ["b", "c"], []]):
        for _ in range(2):
            assert_same(cached.encode(sentences), expected(sentences))


CONFUSABLE = [
    [["a b", "c"], ["a", "b c"], ["a b c"], ["a", "b", "c"], ["ab", "c"], ["a", "bc"]],
    [["1,1;ab"], ["1", ",1;ab"], ["a\0b"], ["a", "b"], ["a", "\0b"], ["a\0", "b"]],
    [["", "a"], ["a", ""], ["a"], ["", "", "a"], ["", ""], [""]],
    [["\ud83d\ude00"], ["😀"], ["\ud83d", "\ude00"], ["\ud83d"], ["\ude00"], ["?"]],
    [["é"], ["e\u0301"]],
]


@pytest.mark.parametrize("sentences", CONFUSABLE)
def test_sentences_are_never_confused(cache, sentences):
    for sentence in sentences:
        encoder = CountingEncoder()
        assert_same(CachedEncoder(encoder, cache).encode([sentence]), expected([sentence]))
        assert encoder.seen == [tuple(sentence)]
    encoder = CountingEncoder()
    assert_same(CachedEncoder(encoder, cache).encode(sentences), expected(sentences))
    assert encoder.seen == []


def test_encoders_never_mix(cache):
    sentences = sentences_of(5)
    for options in ({}, {"fingerprint": "other"}, {"fingerprint": "counting', 8"}, {"dim": 4}):
        encoder = CountingEncoder(**options)
        assert_same(CachedEncoder(encoder, cache).encode(sentences), expected(sentences, **options))
        assert len(encoder.seen) == 5


def test_an_encoder_with_another_name_finds_its_features(cache):
    sentences = sentences_of(5)
    for name, n_encoded in (("here", 5), ("there", 0), ("here", 0)):
        encoder = CountingEncoder()
        encoder.name = name
        assert_same(CachedEncoder(encoder, cache).encode(sentences), expected(sentences))
        assert len(encoder.seen) == n_encoded


def test_a_file_moved_to_another_encoder_is_not_believed(cache):
    sentences = sentences_of(5)
    CachedEncoder(CountingEncoder(), cache).encode(sentences)
    CachedEncoder(CountingEncoder(fingerprint="other"), cache).encode(sentences_of(5, first=90))
    path = {entry.fingerprint: entry.path for entry in cache.contents()}
    path["counting"].rename(path["other"])
    with pytest.warns(HandfulWarning, match="the features of another encoder"):
        found = CachedEncoder(CountingEncoder(fingerprint="other"), cache).encode(sentences)
    assert_same(found, expected(sentences, fingerprint="other"))


WORDS = st.text(st.characters(codec=None), max_size=5)  # lone surrogates, NULs and empty words too


@examples(20)
@given(batches=st.lists(st.lists(st.lists(WORDS, max_size=4), max_size=5), max_size=4))
def test_round_trip_of_strange_words(tmp_path_factory, batches):
    cache = FeatureCache(tmp_path_factory.mktemp("cache"))
    encoder = CountingEncoder(dim=2)
    cached = CachedEncoder(encoder, cache)
    for batch in batches:
        assert_same(cached.encode(batch), expected(batch, dim=2))
    everything = [sentence for batch in batches for sentence in batch]
    n_seen = len(encoder.seen)
    assert n_seen == len({tuple(sentence) for sentence in everything if sentence})
    assert_same(CachedEncoder(encoder, cache).encode(everything), expected(everything, dim=2))
    assert len(encoder.seen) == n_seen


@pytest.mark.parametrize("sentences", ["a text", [["a"], "a text"], [["a", 3]], [["a"], 5]])
def test_sentences_that_are_not_words_are_an_error(cache, sentences):
    with pytest.raises(EncoderError, match=r"sentence [01] "):
        CachedEncoder(CountingEncoder(), cache).encode(sentences)


@pytest.mark.parametrize("rows", [np.zeros((3, 8), np.float32), np.zeros((2, 8)), np.zeros((2, 7), np.float32)])
def test_an_encoder_that_gives_other_rows_is_an_error_and_not_cached(cache, rows):
    class Wrong(CountingEncoder):
        def encode(self, sentences, **_):
            return rows

    with pytest.raises(EncoderError, match=r"shape \(2, 8\)"):
        CachedEncoder(Wrong(), cache).encode([["a", "b"]])
    assert stores_of(cache) == []


def test_progress_counts_all_words(cache, monkeypatch):
    monkeypatch.setattr(encoder_module, "PACK_BYTES", 10 * 4 * 8 * 4)
    cached = CachedEncoder(CountingEncoder(), cache)
    cached.encode(sentences_of(5))
    calls = []
    cached.encode(sentences_of(40), progress=lambda done, total: calls.append((done, total)))
    assert calls[0] == (20, 160)
    assert sorted(set(calls)) == [(4 * i, 160) for i in range(5, 41)]
    calls.clear()
    cached.encode(sentences_of(40), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(160, 160)]


def test_a_generator_of_sentences_is_as_good_as_a_list(cache):
    cached = CachedEncoder(CountingEncoder(), cache)
    assert_same(cached.encode(iter(sentences_of(3))), expected(sentences_of(3)))
