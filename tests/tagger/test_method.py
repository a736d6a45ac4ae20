"""Our method beside the paper's: labels, clusters and decoding, each against plain loops; the estimated ratio."""

import math

import numpy as np
import pytest

from handful import Tagger
from handful.errors import DataError, ModelError
from handful.tagger._decode import ENGLISH, viterbi
from handful.tagger._labels import FREEDOM, NEAREST, LabelModel
from handful.tagger._learning import LABELLED_MASS, count_mentions
from handful.tagger._model import CLUSTERS, SURE_AT_ZERO, SURE_BY_LOGIT
from handful.tagger._ratio import estimate_o_ratio
from handful.text import Sentence

from .toy import SUPPORT, UNLABELLED, ToyEncoder, mentions, tagger

TEXT = "Then Pim went from Leiden to see Lot ."


FIVE = [*SUPPORT, "so [Pim](PER) likes [Leith](LOC) and [Perth](LOC)", "[Pol](PER) is at [Luton](LOC) today"]


def ours(support=FIVE, **options):
    return tagger(**({"method": "handful", "o_ratio": "auto"} | options)).fit(support, UNLABELLED)


def labelled(seed=0, n=30, d=6, n_tags=3):
    rng = np.random.default_rng(seed)
    tags = np.arange(n) % n_tags
    return (rng.normal(size=(n, d)) + 2 * np.eye(n_tags, d)[tags]).astype(np.float32), tags


def test_it_is_the_default():
    model = Tagger(ToyEncoder())
    assert (model.method, model.o_ratio) == ("handful", "auto")


def test_it_finds_mentions():
    assert mentions(ours().predict(TEXT)) == [("Pim", "PER"), ("Leiden", "LOC"), ("Lot", "LOC")]


@pytest.mark.parametrize("n_tags", [2, 4])
def test_the_regression_is_at_the_least_penalised_loss(n_tags):
    features, tags = labelled(n_tags=n_tags)
    model = LabelModel.fit(features, tags, n_tags)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)

    def loss(weights, bias):
        logits = unit @ weights.T + bias
        likelihood = sum(math.log(np.exp(row - row[tag]).sum()) for row, tag in zip(logits, tags, strict=True))
        if n_tags == 2:  # the penalty is on the one vector of two tags' difference
            return likelihood + ((weights[1] - weights[0]) ** 2).sum() / (2 * FREEDOM)
        return likelihood + (weights**2).sum() / (2 * FREEDOM)

    best = loss(model.weights, model.bias)
    rng = np.random.default_rng(1)
    for size in (1e-2, 1e-1):
        step = size * rng.normal(size=model.weights.shape)
        if n_tags == 2:
            step[0] = -step[1]
        assert loss(model.weights + step, model.bias) > best
        assert loss(model.weights - step, model.bias) > best


def test_the_labels_logits_by_hand():
    features, tags = labelled()
    model = LabelModel.fit(features, tags, 3)
    words, _ = labelled(seed=1, n=5)
    for word, found in zip(words, model.logits(words), strict=True):
        unit = word / np.linalg.norm(word)
        for tag in range(3):
            cosines = [
                float(unit @ other / np.linalg.norm(other))
                for other, its in zip(features, tags, strict=True)
                if its == tag
            ]
            expected = model.weights[tag] @ unit + model.bias[tag] + NEAREST * max(cosines)
            assert found[tag] == pytest.approx(expected, abs=1e-4)


def test_a_word_of_zeros_is_no_error():
    features, tags = labelled()
    assert np.isfinite(LabelModel.fit(features, tags, 3).logits(np.zeros((2, 6), np.float32))).all()


def test_tags_and_scores_by_hand():
    model = ours()._model
    features = ToyEncoder().encode([TEXT.split()])
    scores, tags = model.tag(features, [9])
    to_prototypes = model.squared_distances(features)
    logits = model.labels.logits(features)
    for tag in range(3):
        logits[:, tag] -= CLUSTERS * to_prototypes[:, model.prototype_tags == tag].min(axis=1)
    assert tags.tolist() == viterbi(logits, [9], ENGLISH).tolist()
    for i in range(9):
        for tag in range(3):
            lead = logits[i, tag] - max(logits[i, other] for other in range(3) if other != tag)
            assert scores[i, tag] == pytest.approx(1 / (1 + math.exp(-SURE_AT_ZERO - SURE_BY_LOGIT * lead)), abs=1e-6)
    assert scores.argmax(axis=1).tolist() == logits.argmax(axis=1).tolist()
    assert model.scores(features) == pytest.approx(scores)


def test_sentences_are_decoded_apart():
    model = ours()._model
    features = ToyEncoder().encode([["Lima"], ["in", "Paris"]])
    together = model.tag(features, [1, 2])[1]
    assert together.tolist() == [*model.tag(features[:1], [1])[1], *model.tag(features[1:], [2])[1]]


def test_the_estimate_is_the_mean_chance_of_o():
    features, tags = labelled(n=40)
    allowed = np.ones((40, 3), bool)
    allowed[:10] = np.eye(3, dtype=bool)[tags[:10]]
    allowed[10] = [False, True, True]  # some entity
    model = LabelModel.fit(features[:10], tags[:10], 3)
    total = float((tags[:10] == 0).sum())
    for logits in model.regression(features[11:]):
        chances = np.exp(logits - logits.max())
        total += chances[0] / chances.sum()
    assert estimate_o_ratio(model, 3, features, allowed) == pytest.approx(total / 40)
    assert estimate_o_ratio(model, 2, features, allowed) is None  # too few mentions to go by


def test_the_estimate_is_used_and_said():
    summary = ours().summary_
    assert summary.ratio_is_estimated
    assert ours(SUPPORT).summary_.ratio_asked is None  # two mentions of each type are too few
    assert 0.5 < summary.ratio_asked < 0.95
    assert summary.ratio_met == pytest.approx(summary.ratio_asked, abs=0.5 / 60)
    assert "ratio estimated" in str(summary)
    assert ours(o_ratio=0.7).summary_.ratio_asked == 0.7
    assert not ours(o_ratio=0.7).summary_.ratio_is_estimated


def test_mentions_are_runs_within_a_sentence():
    places = np.array([(0, 0), (0, 1), (0, 2), (0, 4), (1, 5), (1, 6), (2, 7)])
    tags = np.array([1, 1, 2, 2, 2, 0, 1])
    assert count_mentions(places, tags, 4) == [2, 3, 0]


def test_labelled_words_weigh_a_share_of_the_others():
    from handful.cluster import SubspaceKMeans

    model = ours(o_ratio=None)
    text = model._text
    allowed = text.allowed(["LOC", "PER"])
    is_sure = allowed.sum(axis=1) == 1
    weights = np.ones(len(allowed))
    weights[is_sure] = LABELLED_MASS * (~is_sure).sum() / is_sure.sum()
    assert weights[is_sure].max() < 1  # the text is short: labels count at least as any other word
    expected = SubspaceKMeans(o_prototypes=2).fit(text.features, allowed)
    np.testing.assert_array_equal(model._model.prototypes, expected.prototypes_)

    long = tagger(method="handful", o_ratio=None).fit(SUPPORT, UNLABELLED * 20)
    text = long._text
    allowed = text.allowed(["LOC", "PER"])
    is_sure = allowed.sum(axis=1) == 1
    weights = np.ones(len(allowed))
    weights[is_sure] = LABELLED_MASS * (~is_sure).sum() / is_sure.sum()
    expected = SubspaceKMeans(o_prototypes=2).fit(text.features, allowed, sample_weight=weights)
    np.testing.assert_allclose(long._model.prototypes, expected.prototypes_, atol=1e-9)


def test_auto_without_unlabelled_text_is_no_ratio_and_no_warning():
    summary = tagger(method="handful", o_ratio="auto").fit(SUPPORT).summary_
    assert summary.ratio_asked is None
    assert not summary.ratio_is_estimated


def test_the_papers_method_can_estimate_the_ratio_too():
    summary = ours(method="paper").summary_
    assert summary.method == "paper"
    assert summary.ratio_asked == ours().summary_.ratio_asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method='magic' is not possible: it must be 'handful' or 'paper'"),
        ({"o_ratio": "much"}, "o_ratio='much' is not possible: it must be 'auto', None or a number"),
        ({"o_ratio": 1.5}, "o_ratio=1.5"),
    ],
)
def test_what_is_not_possible(options, message):
    encoder = ToyEncoder()
    with pytest.raises(DataError, match=message):
        ours(encoder=encoder, **options)
    assert encoder.n_words == 0  # known before anything is encoded


def test_partial_labels_work():
    support = [*SUPPORT, Sentence(("Gaia", "shone"), None, (None, None))]
    assert mentions(tagger(method="handful").fit(support, UNLABELLED).predict("see Paul")) == [("Paul", "PER")]


def test_it_is_saved_and_loaded(tmp_path):
    model = ours()
    model.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=ToyEncoder())
    assert loaded.predict(TEXT) == model.predict(TEXT)
    assert (loaded.method, loaded.o_ratio) == ("handful", "auto")
    assert loaded.summary_ == model.summary_


def test_a_saved_model_without_its_label_words_is_an_error(tmp_path):
    from safetensors.numpy import load_file, save_file

    ours().save(tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "model.safetensors")
    del arrays["label_vectors"]
    save_file(arrays, tmp_path / "model" / "model.safetensors")
    with pytest.raises(ModelError, match="label_vectors"):
        Tagger.load(tmp_path / "model", encoder=ToyEncoder())
