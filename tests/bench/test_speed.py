"""How fast this machine is: what is measured, never how fast."""

import sys

import pytest

from handful import examples
from handful.bench import _speed, speed
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
    for name, ratios in found.ratios.items():
        for i in range(2):
            assert ratios[i] == found.words_per_second["encode"][i] / found.words_per_second[name][i]
    assert found.to_dict()["ratios"] == found.ratios
    assert seen == [(done, 12) for done in range(12)]
    assert found.notes == []


def test_without_transformers_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    found = measured(most_words=20, threads=1)
    assert found.threads == (1,)
    assert list(found.words_per_second) == ["encode", "predict"]
    assert found.ratios == {}
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
