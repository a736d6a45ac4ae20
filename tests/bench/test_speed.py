"""How fast this machine is: what is measured, never how fast."""

from itertools import accumulate

import pytest

from handful import examples
from handful.bench import speed
from handful.errors import DataError
from handful.text import read, read_types

SUPPORT, TYPES = read(examples.SUPPORT), read_types(examples.TYPES)
TEXT = read(examples.UNLABELLED)[:30]


def measured(text=TEXT, **options):
    return speed(text, SUPPORT, TYPES, turns=1, **options)


def test_everything_is_measured_on_each_number_of_threads():
    seen = []
    found = measured(most_words=60, threads=2, on_run=lambda done, total, name: seen.append((done, total)))
    assert found.threads == (1, 2)
    assert list(found.words_per_second) == ["encode", "predict"]
    assert list(found.seconds) == ["fit", "add"]
    assert {len(values) for values in (*found.words_per_second.values(), *found.seconds.values())} == {2}
    assert seen == [(done, 8) for done in range(8)]


def test_the_best_turn_counts():
    seconds = [4.0, 4.0, 4.0, 4.0, 2.0, 0.5, 8.0, 2.0]  # fit, add, encode and predict, in two turns
    times = [0.0, *accumulate(one for each in seconds for one in (each, 0.0))]
    found = speed(TEXT[:2], SUPPORT, TYPES, turns=2, threads=1, clock=iter(times).__next__)
    assert found.seconds == {"fit": (2.0,), "add": (0.5,)}
    assert found.words_per_second == {"encode": (found.n_words / 4,), "predict": (found.n_words / 2,)}


def test_whole_sentences_are_taken_until_there_are_enough_words():
    lengths = [len(sentence.words) for sentence in TEXT]
    found = measured(most_words=lengths[0] + 1, threads=1)
    assert (found.n_sentences, found.n_words) == (2, sum(lengths[:2]))
    found = measured(TEXT[:2], threads=1)
    assert (found.n_sentences, found.n_words) == (2, sum(lengths[:2]))
    with pytest.raises(DataError, match="no word"):
        measured([])
