"""Which words an encoder cannot read: those of unknown sub-words alone, and all of a sentence that is full of them."""

import numpy as np
import pytest

from handful.encoders import CachedEncoder, Encoder, load
from handful.encoders.cache import FeatureCache

ENGLISH = ["We", "met", "in", "Paris", "on", "Tuesday", "."]


def unreadable(encoder, *sentences):
    found = encoder.unreadable(sentences)
    assert (found.dtype, found.shape) == (np.bool_, (sum(map(len, sentences)),))
    return found.astype(int).tolist()


@pytest.fixture(scope="module")
def encoder():
    return load("handful-en")


def test_english_can_be_read(encoder):
    assert not any(unreadable(encoder, ENGLISH, ["Zürich", "Łódź", "IκB", "C++", "#1", "Москва"]))
    assert unreadable(encoder) == []


def test_a_word_of_unknown_sub_words_alone_cannot_be_read(encoder):
    assert unreadable(encoder, ENGLISH, [*ENGLISH, "密教"], ["Gǝʿǝz", *ENGLISH]) == [0] * 7 + [0] * 7 + [1, 1] + [0] * 7
    assert unreadable(encoder, ["x", "\x07", "密a", "y", "b-密", "c", "d"]) == [0, 1, 0, 0, 0, 0, 0]


def test_a_sentence_of_which_a_third_is_unknown_cannot_be_read(encoder):
    known, unknown = "公", "总"
    assert unreadable(encoder, [known]) == [0]
    assert unreadable(encoder, [known, known, unknown]) == [1, 1, 1]
    assert unreadable(encoder, [known, known, known, unknown]) == [0, 0, 0, 1]
    assert unreadable(encoder, [known, known, ",", "!", "12", unknown]) == [1] * 6  # words with letters are counted


def test_emoji_are_not_words_of_a_language(encoder):
    assert unreadable(encoder, ["😂", "😂", "Paris", "❤️"]) == [1, 1, 0, 1]


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm_roberta"])
def test_every_kind_of_vocabulary(source, exported, family):
    """Bytes are never unknown; a space that is written before a sub-word says nothing."""
    expected = [0, 0, 0, 1, 0] if family != "roberta" else [0] * 5
    for folder in (source(family), exported(family)):
        assert unreadable(load(folder), ["the", "dog", "jumps", "密教", "Paris"]) == expected


def test_what_is_cached_is_judged_alike(encoder, tmp_path):
    sentences = [[*ENGLISH, "密教"], ENGLISH]
    for _ in range(2):
        cached = CachedEncoder(encoder, FeatureCache(tmp_path))
        cached.encode(sentences)
        assert unreadable(cached, *sentences) == [0] * 7 + [1] + [0] * 7

    class Plain(Encoder):
        dim, fingerprint = 2, "plain"

        def encode(self, sentences, **options):
            return np.zeros((sum(map(len, sentences)), 2), np.float32)

    assert not any(unreadable(CachedEncoder(Plain(), FeatureCache(tmp_path)), *sentences))
