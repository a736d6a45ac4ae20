"""How fast this machine is: what is measured, never how fast."""

import sys
from itertools import accumulate

import pytest

from handful import examples
from handful._util.processor import Processor
from handful.bench import Speed, _speed, speed
from handful.errors import DataError
from handful.text import read, read_types

SUPPORT, TYPES = read(examples.SUPPORT), read_types(examples.TYPES)
TEXT = read(examples.UNLABELLED)[:30]


def measured(text=TEXT, **options):
    return speed(text, SUPPORT, TYPES, turns=1, **options)


@pytest.fixture
def _small(monkeypatch):
    monkeypatch.setattr(_speed, "BERT", ("Bert", 1))


@pytest.mark.usefixtures("_small")
@pytest.mark.exhaustive
def test_ours_and_what_people_write_are_measured_on_each_number_of_threads():
    pytest.importorskip("transformers")
    seen = []
    found = measured(most_words=60, threads=2, on_run=lambda done, total, name: seen.append((done, total)))
    assert found.threads == (1, 2)
    assert list(found.words_per_second) == ["encode", "predict", "plain loop, 7 layers", "plain loop, 1 layers"]
    assert list(found.seconds) == ["fit", "add"]
    for values in (*found.words_per_second.values(), *found.seconds.values()):
        assert len(values) == 2
        assert all(value > 0 for value in values)
    assert seen == [(done, 12) for done in range(12)]
    assert found.notes == []


def test_ratios_say_how_many_times_as_fast_ours_is():
    words = {"encode": (300.0, 600.0), "predict": (200.0, 500.0), "a loop": (100.0, 150.0)}
    found = Speed(Processor.here(), (1, 2), 3, 60, 1, words, {"fit": (1.0, 1.0), "add": (1.0, 1.0)}, [])
    assert found.to_dict()["times_as_fast"] == {"a loop": (3.0, 4.0)}


def test_the_best_turn_counts(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    seconds = [4.0, 4.0, 4.0, 4.0, 2.0, 0.5, 8.0, 2.0]  # fit, add, encode and predict, in two turns
    times = [0.0, *accumulate(one for each in seconds for one in (each, 0.0))]
    found = speed(TEXT[:2], SUPPORT, TYPES, turns=2, threads=1, clock=iter(times).__next__)
    assert found.seconds == {"fit": (2.0,), "add": (0.5,)}
    assert found.words_per_second == {"encode": (found.n_words / 4,), "predict": (found.n_words / 2,)}


def test_without_transformers_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    found = measured(most_words=20, threads=1)
    assert found.threads == (1,)
    assert list(found.words_per_second) == ["encode", "predict"]
    assert found.times_as_fast == {}
    assert found.notes == ["what people write is not measured: it needs pip install 'handful[transformers]'"]


def test_whole_sentences_are_taken_until_there_are_enough_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    lengths = [len(sentence.words) for sentence in TEXT]
    found = measured(most_words=lengths[0] + 1, threads=1)
    assert (found.n_sentences, found.n_words) == (2, sum(lengths[:2]))
    found = measured(TEXT[:2], threads=1)
    assert (found.n_sentences, found.n_words) == (2, sum(lengths[:2]))
    with pytest.raises(DataError, match="no word"):
        measured([])
