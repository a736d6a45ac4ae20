"""Methods by name, and the words that they learn from."""

import pytest

from handful.baselines import BASELINES, Baseline, make_baseline
from handful.baselines._base import read_support
from handful.errors import DataError

from .made import encoder, sentences


def test_each_method_fits_and_predicts():
    support, test = sentences(1, 8), sentences(2, 5)
    for name in ("proto", "nnshot", "structshot", "regression"):
        found = make_baseline(name, encoder()).fit(support).predict_sentences(test)
        assert [sentence.words for sentence in found] == [sentence.words for sentence in test]
        assert any(sentence.spans for sentence in found)


def test_a_name_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(DataError, match="no method 'protos'; methods are proto, nnshot, structshot, regression"):
        make_baseline("protos", encoder())
    assert all(issubclass(kind, Baseline) for kind in BASELINES.values())


def test_words_that_are_labelled_in_two_ways_count_in_both():
    support = read_support(["see [Pam](PER)", "so [Lom](LOC) left", "see [Pam](LOC)"])
    features, tags = support.words(encoder())
    assert [sentence.words for sentence in support.sentences] == [("see", "Pam"), ("see", "Pam"), ("so", "Lom", "left")]
    assert tags.tolist() == [0, 2, 0, 1, 0, 1, 0]  # O, LOC, PER
    assert (features[1] == features[3]).all()
