"""Methods by name, and the source they learn from."""

import pytest

from handful import Sentence
from handful.baselines import BASELINES, Baseline, Source, StructShot, make_baseline
from handful.baselines._base import read_support
from handful.errors import DataError
from handful.text import Transitions

from .made import encoder, sentences

CORPORA = [sentences(11, 30), sentences(12, 20)]


def test_each_method_fits_and_predicts():
    support, test = sentences(1, 8), sentences(2, 5)
    for name in ("proto", "nnshot", "structshot", "regression"):
        found = make_baseline(name, encoder(), source=CORPORA).fit(support).predict_sentences(test)
        assert [sentence.words for sentence in found] == [sentence.words for sentence in test]
        assert any(sentence.spans for sentence in found)


def test_structshot_counts_on_the_source():
    counted = Transitions.count([sentence for corpus in CORPORA for sentence in corpus])
    for source in (CORPORA, Source(CORPORA, encoder())):
        made = make_baseline("structshot", encoder(), source=source)
        assert isinstance(made, StructShot)
        assert made.transitions == counted
    assert make_baseline("structshot", encoder()).transitions is None  # those of the encoder


def test_a_name_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(DataError, match="no method 'protos'; methods are proto, nnshot, structshot, regression"):
        make_baseline("protos", encoder())
    assert all(issubclass(kind, Baseline) for kind, _ in BASELINES.values())


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ([], "at least one corpus"),
        ("train.txt", "at least one corpus"),
        ([[]], "corpus 0"),
        (CORPORA[0], "corpus 0 of the source is a list"),
        ([CORPORA[0], [Sentence(("a",))]], "corpus 1 of the source, sentence 0"),
        ([[["a", "b"]]], "sentence 0"),
        ([[Sentence(("a",), ())]], "no mention"),
    ],
)
def test_a_source_that_is_none_is_refused(corpora, message):
    with pytest.raises(DataError, match=message):
        Source(corpora, encoder())


def test_shots_are_the_mentions_of_the_rarest_type():
    assert read_support(["aaa met [Pim](PER) and [Lom](LOC) in bbb", "then [Pum Pim](PER) left"]).shots == 1
    assert read_support(["see [Pum Pim](PER) and [Pam](PER)", "so [Pom](PER) left"]).shots == 3
    assert read_support(["see [Pum Pim](!O) and [Pam](!O)"]).shots == 2  # of no type: they are all one


def test_words_that_are_labelled_in_two_ways_count_in_both():
    support = read_support(["see [Pam](PER)", "so [Lom](LOC) left", "see [Pam](LOC)"])
    words = support.words(encoder())
    assert [sentence.words for sentence in support.sentences] == [("see", "Pam"), ("see", "Pam"), ("so", "Lom", "left")]
    assert words.tags.tolist() == [0, 2, 0, 1, 0, 1, 0]  # O, LOC, PER
    assert (words.features[1] == words.features[3]).all()
