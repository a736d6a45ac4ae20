"""Features in memory: encoded once, and given as views where they lie together."""

import numpy as np
from counting import CountingEncoder, expected, sentences_of

from handful.encoders.cache import RememberingEncoder


def test_features_in_memory_are_views_of_what_was_encoded():
    some, others = sentences_of(6), sentences_of(4, first=10)
    some.append(some[0])  # the same words twice
    encoder = CountingEncoder()
    memory = RememberingEncoder(encoder)
    for part in (some, [], others):
        memory.remember(part)
    n_encoded = len(encoder.seen)
    whole = memory.encode(some)
    assert np.array_equal(whole, expected(some))
    for part in (some, some[2:5], others, others[1:], some[5:]):
        found = memory.encode(part)
        assert np.array_equal(found, expected(part))
        assert found.base is not None
    mixed = [others[2], some[1], some[6]]
    assert np.array_equal(memory.encode(mixed), expected(mixed))
    assert np.shares_memory(memory.encode(some), whole)
    assert len(encoder.seen) == n_encoded
    assert memory.encode([]).shape == (0, 8)


def test_sentences_are_encoded_once_when_they_are_first_asked_for():
    encoder = CountingEncoder()
    memory = RememberingEncoder(encoder)
    first, second = sentences_of(3), sentences_of(5)
    assert memory.known(first[0]) is None
    for sentences in (first, [*second, second[4]], first[::-1]):
        assert np.array_equal(memory.encode(sentences), expected(sentences))
    assert len(encoder.seen) == 5
    assert np.array_equal(memory.known(second[4]), expected([second[4]]))
