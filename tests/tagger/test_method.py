"""Our method beside the paper's: labels, clusters and decoding, each against plain loops; the estimated ratio."""

import math

import numpy as np
import pytest

from handful import Tagger
from handful._util.passes import ByBlock
from handful.errors import DataError, ModelError
from handful.tagger._learning import METHODS, estimate_o_ratio
from handful.tagger.decoding import viterbi
from handful.tagger.evidence import NearestLabel, Prototypes, Regression, o_chances
from handful.tagger.logistic import INVERSE_PENALTY
from handful.tagger.model import Softmax
from handful.tagger.training_text import LabelledWords
from handful.text import Sentence

from .toy import SUPPORT, TRANSITIONS, UNLABELLED, ToyEncoder, mentions, names, tagger

OURS = METHODS["handful"]

TEXT = "Then Pim went from Leiden to see Lot ."


FIVE = [*SUPPORT, "so [Pim](PER) likes [Leith](LOC) and [Perth](LOC)", "[Pol](PER) is at [Luton](LOC) today"]


def ours(support=FIVE, **options):
    return tagger(**({"method": "handful", "o_ratio": "auto"} | options)).fit(support, UNLABELLED)


def labelled(seed=0, n=30, d=6, n_tags=3):
    rng = np.random.default_rng(seed)
    tags = np.arange(n) % n_tags
    return (rng.normal(size=(n, d)) + 2 * np.eye(n_tags, d)[tags]).astype(np.float32), tags


def test_it_is_the_default():
    model = Tagger(encoder=ToyEncoder())
    assert (model.method, model.o_ratio) == ("handful", "auto")


def test_it_finds_mentions():
    assert mentions(ours().predict(TEXT)) == [("Pim", "PER"), ("Leiden", "LOC"), ("Lot", "LOC")]


@pytest.mark.parametrize("n_tags", [2, 4])
def test_the_regression_is_at_the_least_penalised_loss(n_tags):
    features, tags = labelled(n_tags=n_tags)
    model = Regression.fit(features, tags, n_tags)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)

    def loss(weights, bias):
        logits = unit @ weights.T + bias
        likelihood = sum(math.log(np.exp(row - row[tag]).sum()) for row, tag in zip(logits, tags, strict=True))
        return likelihood + (weights**2).sum() / (2 * INVERSE_PENALTY)

    best = loss(model.weights, model.bias)
    rng = np.random.default_rng(1)
    for size in (1e-2, 1e-1):
        step = size * rng.normal(size=model.weights.shape)
        assert loss(model.weights + step, model.bias) > best
        assert loss(model.weights - step, model.bias) > best


def test_the_labels_logits_by_hand():
    features, tags = labelled()
    regression, nearest = Regression.fit(features, tags, 3), NearestLabel.of(features, tags, 3)
    words, _ = labelled(seed=1, n=5)
    for word, linear, cosine in zip(words, regression.logits(words), nearest.logits(words), strict=True):
        unit = word / np.linalg.norm(word)
        for tag in range(3):
            cosines = [
                float(unit @ other / np.linalg.norm(other))
                for other, its in zip(features, tags, strict=True)
                if its == tag
            ]
            assert linear[tag] == pytest.approx(regression.weights[tag] @ unit + regression.bias[tag], abs=1e-5)
            assert cosine[tag] == pytest.approx(max(cosines), abs=1e-6)


def test_with_a_steepness_only_words_that_are_much_alike_count():
    features, tags = labelled()
    words = np.concatenate([features, -features])
    cosines = NearestLabel.of(features, tags, 3).logits(words)
    steep = NearestLabel.of(features, tags, 3, steepness=7).logits(words)
    np.testing.assert_allclose(steep, np.exp(7 * cosines - 7), rtol=1e-5)


def test_a_word_of_zeros_is_no_error():
    features, tags = labelled()
    nothing = np.zeros((2, 6), np.float32)
    for piece in (Regression.fit(features, tags, 3), NearestLabel.of(features, tags, 3)):
        assert np.isfinite(piece.logits(nothing)).all()


def test_tags_and_scores_by_hand():
    model = ours().model_
    features = ToyEncoder().encode([TEXT.split()])
    scores, tags = model.tag(features, [Sentence(("x",) * 9)])
    clusters = model.piece(Prototypes)
    to_prototypes = clusters.squared_distances(features)
    logits = model.piece(Regression).logits(features) + OURS.weights["nearest"] * model.piece(NearestLabel).logits(
        features
    )
    for tag in range(3):
        logits[:, tag] -= OURS.weights["prototypes"] * to_prototypes[:, clusters.tags == tag].min(axis=1)
    assert tags.tolist() == viterbi(logits, [9], TRANSITIONS).tolist()
    at_zero, by_logit = OURS.calibration.at_zero, OURS.calibration.by_logit
    for i in range(9):
        for tag in range(3):
            lead = logits[i, tag] - max(logits[i, other] for other in range(3) if other != tag)
            assert scores[i, tag] == pytest.approx(1 / (1 + math.exp(-at_zero - by_logit * lead)), abs=1e-6)
    assert scores.argmax(axis=1).tolist() == logits.argmax(axis=1).tolist()
    assert model.scores(features) == pytest.approx(scores)


def test_the_papers_model_is_prototypes_alone():
    model = ours(method="paper").model_
    assert [type(piece) for piece in model.evidence] == [Prototypes]
    assert (model.transitions, model.calibration) == (None, Softmax(1.0))
    features = ToyEncoder().encode([TEXT.split()])
    distances = model.evidence[0].squared_distances(features)
    nearest = model.evidence[0].tags[distances.argmin(axis=1)]
    assert model.tag(features, [Sentence(("x",) * 9)])[1].tolist() == nearest.tolist()


def test_an_encoder_without_transitions_decides_each_word_by_itself():
    encoder = ToyEncoder()
    encoder.transitions = None
    model = ours(encoder=encoder).model_
    features = encoder.encode([TEXT.split()])
    assert model.transitions is None
    assert model.tag(features, [Sentence(("x",) * 9)])[1].tolist() == model.logits(features).argmax(axis=1).tolist()


def test_a_model_cannot_be_changed():
    model = ours().model_
    with pytest.raises(ValueError, match="read-only"):
        model.piece(Prototypes).prototypes[0] = 0
    with pytest.raises(AttributeError):
        model.transitions = None


def test_sentences_are_decoded_apart():
    model = ours().model_
    features = ToyEncoder().encode([["Lima"], ["in", "Paris"]])
    together = model.tag(features, [Sentence(("x",) * 1), Sentence(("x",) * 2)])[1]
    assert together.tolist() == [
        *model.tag(features[:1], [Sentence(("x",) * 1)])[1],
        *model.tag(features[1:], [Sentence(("x",) * 2)])[1],
    ]


def labelled_words(allowed, n_words, places=None):
    rows = np.arange(len(allowed))
    places = np.stack([rows, 0 * rows], axis=1) if places is None else places
    return LabelledWords(n_words, rows, allowed, places, np.zeros(len(rows), bool), np.zeros_like(allowed))


def test_the_estimate_is_the_mean_chance_of_o():
    features, tags = labelled(n=40)
    allowed = np.concatenate([np.eye(3, dtype=bool)[tags[:10]], [[False, True, True]]])  # the last is some entity
    model = Regression.fit(features[:10], tags[:10], 3)
    total = float((tags[:10] == 0).sum())
    for logits in model.logits(features[11:]):
        chances = np.exp(logits - logits.max())
        total += chances[0] / chances.sum()
    chances = o_chances(model.logits(features))
    assert estimate_o_ratio([ByBlock.of(chances, 40)], labelled_words(allowed, 40)) == pytest.approx(total / 40)
    parts = [ByBlock.of(chances[:25], 25), ByBlock.of(chances[25:], 15)]
    assert estimate_o_ratio(parts, labelled_words(allowed, 40)) == pytest.approx(total / 40)
    all_labelled = labelled_words(allowed, 11)
    assert estimate_o_ratio([ByBlock.of(chances[:11], 11)], all_labelled) is None  # nothing is left to estimate


def test_the_estimate_is_used_and_said():
    summary = ours().summary_
    assert summary.is_estimated
    assert ours(SUPPORT).summary_.o_ratio is None  # two mentions of each type are too few
    assert 0.5 < summary.o_ratio < 0.95
    assert summary.o_share == pytest.approx(summary.o_ratio, abs=0.5 / 60)
    assert "ratio estimated" in str(summary)
    assert ours(o_ratio=0.7).summary_.o_ratio == 0.7
    assert not ours(o_ratio=0.7).summary_.is_estimated


def test_mentions_are_runs_within_a_sentence():
    places = np.array([(0, 0), (0, 1), (0, 2), (0, 4), (1, 5), (1, 6), (2, 7)])
    allowed = np.eye(4, dtype=bool)[[1, 1, 2, 2, 2, 0, 1]]
    assert labelled_words(allowed, 7, places).count_mentions() == [2, 3, 0]


@pytest.mark.parametrize("n_copies", [1, 20])
def test_labelled_words_weigh_a_share_of_the_others(n_copies):
    from handful.cluster import SubspaceKMeans

    model = tagger(method="handful", o_ratio=None).fit(FIVE, UNLABELLED * n_copies)
    text = model.text_
    words = text.labelled_words(names(model))
    allowed = np.ones((len(text.features), 3), bool)
    allowed[words.rows] = words.allowed
    is_sure = allowed.sum(axis=1) == 1
    weights = np.ones(len(allowed))
    weights[is_sure] = max(1, OURS.labelled_mass * (~is_sure).sum() / is_sure.sum())
    assert (weights.max() > 1) == (n_copies == 20)  # labels count at least as much as any other word
    expected = SubspaceKMeans(o_prototypes=2).fit(text.features, allowed, sample_weight=weights)
    np.testing.assert_allclose(model.model_.piece(Prototypes).prototypes, expected.prototypes_, atol=1e-9)


def test_auto_without_unlabelled_text_is_no_ratio_and_no_warning():
    summary = tagger(method="handful", o_ratio="auto").fit(SUPPORT).summary_
    assert summary.o_ratio is None
    assert not summary.is_estimated


def test_the_papers_method_can_estimate_the_ratio_too():
    summary = ours(method="paper").summary_
    assert summary.method == "paper"
    assert summary.o_ratio == ours().summary_.o_ratio


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
    del arrays["nearest.vectors"]
    save_file(arrays, tmp_path / "model" / "model.safetensors")
    with pytest.raises(ModelError, match=r"nearest: found tags, expected tags, vectors"):
        Tagger.load(tmp_path / "model", encoder=ToyEncoder())
