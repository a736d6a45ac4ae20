"""CONTaiNER's heads on features that stay: nearest Gaussians by loops, one training a source, and bad input."""

import numpy as np
import pytest

from handful import Sentence, Span
from handful.baselines import FrozenContainer, Source, make_baseline
from handful.baselines import _gaussians as heads
from handful.baselines._base import read_support
from handful.baselines._gaussians import finetune
from handful.errors import DataError, EncoderError
from tagger.toy import ToyEncoder

from .made import encoder, labelled_words, sentences, tagged

TAGS = ("O", "LOC", "PER")
CORPORA = [sentences(21, 40), sentences(22, 30)]
ONE_SHOT = ["aaa met [Pim](PER) and [Lom](LOC) in bbb"]


def slow_distance(one, other, distance):
    (mu, s), (nu, r) = one, other
    if distance == "euclidean":
        return sum((a - b) ** 2 for a, b in zip(mu, nu, strict=True))
    total = 0
    for a, v, b, w in zip(mu, s, nu, r, strict=True):
        total += (v / w + (a - b) ** 2 / w - 1 + np.log(w / v)) / 4  # half of each divergence, which has a half too
        total += (w / v + (a - b) ** 2 / v - 1 + np.log(v / w)) / 4
    return total


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_tags_are_those_of_the_nearest_gaussian(distance):
    support, test = sentences(1, 6), sentences(2, 8)
    model = encoder()
    source = Source(CORPORA, model)
    known = labelled_words(support, model)
    features, tags = np.array([x for x, _ in known]), np.array([TAGS.index(tag) for _, tag in known])
    tuned = finetune(source.heads, features, tags, distance)
    assert any((a != b).any() for a, b in zip(tuned.weights, source.heads.weights, strict=True))
    mu, s = tuned.gaussians(features)
    expected = []
    for sentence in test:
        found = []
        for word in sentence.words:
            own = [part[0] for part in tuned.gaussians(model.vector(word).astype(np.float32)[None])]
            to_all = [slow_distance(own, (mu[i], s[i]), distance) for i in range(len(tags))]
            found.append(TAGS[tags[int(np.argmin(to_all))]])
        expected.append(tagged(sentence.words, found))
    assert FrozenContainer(model, source=source, distance=distance).fit(support).predict_sentences(test) == expected


def test_the_source_is_trained_on_once_and_whatever_the_support():
    given = encoder()
    source = Source(CORPORA, given)
    before = [part.copy() for part in source.heads.weights]
    n_encoded = given.n_words
    for name in ("container-frozen", "container-frozen-viterbi"):
        make_baseline(name, encoder(), source=source).fit(sentences(1, 6))
    assert given.n_words == n_encoded == sum(len(s.words) for corpus in CORPORA for s in corpus)
    assert all((a == b).all() for a, b in zip(before, source.heads.weights, strict=True))
    again = Source(CORPORA, encoder()).heads
    assert all((a == b).all() for a, b in zip(before, again.weights, strict=True))


def test_one_mention_a_type_takes_the_distance_of_means():
    source, test = Source(CORPORA, encoder()), sentences(2, 40)

    def scores(support, distance):
        found = FrozenContainer(encoder(), source=source, distance=distance).fit(support).predict(test)
        return [each["score"] for mentions in found for each in mentions]

    assert scores(ONE_SHOT, "auto") == scores(ONE_SHOT, "euclidean") != scores(ONE_SHOT, "kl")
    more = [*ONE_SHOT, "then [Pum](PER) left [Lam](LOC)"]
    assert scores(more, "auto") == scores(more, "kl") != scores(more, "euclidean")


def test_shots_are_the_mentions_of_the_rarest_type():
    assert read_support([*ONE_SHOT, "then [Pum Pim](PER) left"]).shots == 1
    assert read_support(["see [Pum Pim](PER) and [Pam](PER)", "so [Pom](PER) left"]).shots == 3
    assert read_support(["see [Pum Pim](!O) and [Pam](!O)"]).shots == 2  # of no type: they are all one


def test_words_that_are_labelled_in_two_ways_count_in_both():
    support = read_support(["see [Pam](PER)", "so [Lom](LOC) left", "see [Pam](LOC)"])
    words = support.words(encoder())
    assert [sentence.words for sentence in support.sentences] == [("see", "Pam"), ("see", "Pam"), ("so", "Lom", "left")]
    assert words.tags.tolist() == [0, 2, 0, 1, 0, 1, 0]  # O, LOC, PER
    assert (words.features[1] == words.features[3]).all()


def test_viterbi_uses_the_transitions_of_the_source():
    chain = [Sentence(("Pa", "Pb", "x"), (Span(0, 2, "PER"),)), Sentence(("x", "y"), ())] * 20
    source, support, test = Source([chain], encoder()), sentences(1, 6), sentences(2, 60)
    plain = FrozenContainer(encoder(), source=source).fit(support)
    path = FrozenContainer(encoder(), source=source, viterbi=True, temperature=30.0).fit(support)
    assert path.predict_sentences(test) != plain.predict_sentences(test)
    still = FrozenContainer(encoder(), source=source, viterbi=True, temperature=0).fit(support)
    assert still.predict_sentences(test) == plain.predict_sentences(test)


def test_a_large_source_is_sampled_evenly():
    corpora = [[tagged([f"P{i}", "a"], ["PER", "O"]) for i in range(n)] for n in (100, 10, 1)]
    assert Source(corpora, encoder()).sample() == corpora
    few = Source(corpora, encoder()).sample(n_words=22)
    assert [len(corpus) for corpus in few] == [9, 1, 1]  # a tenth of each; none is left out
    places = [corpora[0].index(sentence) for sentence in few[0]]
    assert set(np.diff(places)) <= {10, 11}


def test_support_of_many_words_goes_in_batches(monkeypatch):
    monkeypatch.setattr(heads, "WORDS", 10)
    source = Source(CORPORA, encoder())
    model = FrozenContainer(encoder(), source=source).fit(sentences(1, 6))
    assert any(sentence.spans for sentence in model.predict_sentences(sentences(2, 5)))


def test_bad_input_is_refused():
    source = Source(CORPORA, encoder())
    with pytest.raises(DataError, match="distance is auto, kl or euclidean; found 'cosine'"):
        FrozenContainer(encoder(), source=source, distance="cosine").fit(sentences(1, 6))
    with pytest.raises(DataError, match="temperature is a number"):
        FrozenContainer(encoder(), source=source, viterbi=True, temperature=-1).fit(sentences(1, 6))
    with pytest.raises(EncoderError, match="another encoder"):
        FrozenContainer(ToyEncoder(fingerprint="other"), source=source).fit(sentences(1, 6))
    with pytest.raises(DataError, match="give source="):
        make_baseline("container-frozen", encoder())
