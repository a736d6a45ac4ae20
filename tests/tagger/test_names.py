"""A tagger that reads what types mean: with no label, with few, and with labels that say otherwise."""

import numpy as np
import pytest
from scipy.special import logsumexp

from handful import Tagger
from handful.errors import DataError, RatioError
from handful.tagger._learning import METHODS
from handful.tagger.decoding import viterbi
from handful.tagger.evidence import NAMES_TAKEN, NearestLabel, Prototypes, Regression, TypeNames
from handful.text import Sentence

from .toy import SUPPORT, TRANSITIONS, UNLABELLED, NamedEncoder, ToyEncoder, mentions, names

TYPES = {"PER": "People", "LOC": "Locations"}
TEXT = "Then Pim went from Leiden to see Lot ."
FOUND = [("Pim", "PER"), ("Leiden", "LOC"), ("Lot", "LOC")]
OURS = METHODS["handful"].with_names


def named(types=TYPES, encoder=None, **options):
    return Tagger(types, encoder=encoder or NamedEncoder(), **({"cache": False} | options))


@pytest.mark.parametrize("unlabelled", [None, UNLABELLED])
@pytest.mark.parametrize("support", [None, SUPPORT])
def test_names_labels_and_text_in_any_mix(support, unlabelled):
    model = named().fit(support, unlabelled)
    assert mentions(model.predict(TEXT)) == FOUND
    assert model.summary_.has_names
    assert model.summary_.mentions == {"LOC": 2 * bool(support), "PER": 2 * bool(support)}


def test_a_support_without_labels_is_unlabelled_text():
    sentences = named().fit(unlabelled=UNLABELLED).text_.sentences
    model, expected = named().fit(sentences, ["Then ."]), named().fit(unlabelled=["Then .", *sentences])
    assert model.predict(TEXT) == expected.predict(TEXT)
    assert model.summary_.notes == [
        f"the unlabelled text includes {len(sentences)} sentences without labels from the support"
    ]


def test_with_names_alone_a_word_is_judged_by_them():
    model = named().fit()
    assert [type(piece) for piece in model.model_.evidence] == [TypeNames]
    features = NamedEncoder().encode([TEXT.split()])
    found = NamedEncoder().encode_types(dict(sorted(TYPES.items())))
    of_o = logsumexp(features @ found.o_vectors.T + found.o_biases, axis=1)
    expected = OURS.weights["names"] * (features @ found.vectors.T + found.biases - of_o[:, None])
    logits = model.model_.logits(features)
    np.testing.assert_allclose(logits[:, 1:], expected, rtol=1e-4)
    assert (logits[:, 0] == 0).all()
    tags = viterbi(logits, [9], TRANSITIONS, OURS.without_prior)
    assert model.model_.tag(features, [Sentence(("x",) * 9)])[1].tolist() == tags.tolist()
    assert (model.summary_.rounds, model.summary_.n_support) == (0, 0)


def test_the_name_of_a_type_is_enough():
    model = named("PER, LOC").fit()
    assert mentions(model.predict(TEXT)) == FOUND
    assert any("PER" in advice.shell and "--types" in advice.shell for advice in model.summary_.advice)


def test_another_type_or_order_changes_no_logit_of_the_others():
    features = NamedEncoder().encode([TEXT.split()])
    logits = named().fit().model_.logits(features)
    more = named({"GOD": "Gods", **TYPES}).fit().model_.logits(features)  # sorted: O, GOD, LOC, PER
    np.testing.assert_array_equal(more[:, [0, 2, 3]], logits)
    turned = named(dict(reversed(TYPES.items()))).fit().model_.logits(features)
    np.testing.assert_array_equal(turned, logits)


def test_text_brings_clusters_that_start_from_names_and_their_ratio():
    model = named().fit(unlabelled=UNLABELLED)
    assert {type(piece) for piece in model.model_.evidence} == {TypeNames, Prototypes}
    summary = model.summary_
    assert summary.is_estimated
    words = [word for text in UNLABELLED for word in text.replace(",", " ,").split()]
    truth = sum(word[0] not in "PL" for word in words) / len(words)
    assert summary.o_ratio == pytest.approx(truth, abs=0.05)
    assert 7 <= sum(summary.unlabelled_words.values()) <= 8  # the ratio is met to a word
    assert summary.n_unlabelled_words == len(words)


@pytest.mark.parametrize("n_more", [1, 2, 5, 8])
def test_the_ratio_is_that_of_the_text_whatever_the_names(n_more):
    few_words = " ".join(["to", "see", "Pim"] * 3).split()[:n_more]
    summary = named().fit(SUPPORT, [few_words]).summary_  # an estimate is always possible
    n = summary.n_support_words + n_more
    assert round(summary.o_share * n) == round(summary.o_ratio * n)
    asked = named(o_ratio=0.7).fit(SUPPORT, UNLABELLED).summary_
    n = asked.n_support_words + asked.n_unlabelled_words
    assert (asked.o_ratio, asked.o_share) == (0.7, np.floor(0.7 * n + 0.5) / n)
    with pytest.raises(RatioError, match=rf"o_ratio=1.0 asks for {n} O words among {n}"):
        named(o_ratio=1.0).fit(SUPPORT, UNLABELLED)


def test_the_papers_method_starts_from_names_where_there_is_no_label():
    model = named(method="paper").fit(unlabelled=UNLABELLED)
    assert [type(piece) for piece in model.model_.evidence] == [Prototypes]
    assert mentions(model.predict(TEXT)) == FOUND
    with_labels = named(method="paper").fit(SUPPORT, UNLABELLED)
    without = named(method="paper", names=False).fit(SUPPORT, UNLABELLED)
    assert with_labels.predict(TEXT) == without.predict(TEXT)


def test_the_regression_learns_what_labels_say_beyond_names():
    encoder = NamedEncoder()
    words = encoder.encode([sentence.split() for sentence in ("see Pim there", "see Leiden there")])
    tags = np.array([0, 2, 0, 0, 1, 0])
    names = named().fit().model_.piece(TypeNames)
    by_names = names.logits(words)
    swapped = by_names[:, [0, 2, 1]]
    right = Regression.fit(words, tags, 3, by_names=10 * by_names)  # names that are sure, and right
    wrong = Regression.fit(words, tags, 3, by_names=swapped)
    assert abs(right.weights).max() < 0.01 < 0.1 < abs(wrong.weights).max()
    assert (right.bias == 0).all()
    assert ((NAMES_TAKEN * swapped + wrong.logits(words)).argmax(axis=1) == tags).all()


def test_the_regression_learns_nothing_of_what_tells_mentions_from_o():
    words, tags = NamedEncoder().encode([TEXT.split()]), np.array([0, 2, 0, 0, 1, 0, 0, 0, 0])
    names = named().fit().model_.piece(TypeNames)
    along = names.vectors.mean(axis=0) - names.o_vectors.mean(axis=0)
    free, held = (Regression.fit(words, tags, 3, 0 * names.logits(words), known=some) for some in (None, along))
    assert abs(free.weights @ along).max() > 0.1
    np.testing.assert_allclose(held.weights @ along, 0, atol=1e-4)
    assert abs(held.weights).max() > 0.1
    fitted = named().fit(SUPPORT).model_.piece(Regression)
    np.testing.assert_allclose(fitted.weights @ along, 0, atol=1e-4)


def test_few_mentions_make_a_weak_regression_and_a_strong_nearest_label():
    weights = []
    for n in (1, 2, 5, 6, 9):
        model = named({"PER": "People"}).fit([f"see [Pi{i}](PER) and rain {i}" for i in range(n)]).model_
        weights.append([model.piece(kind).weight for kind in (Regression, NearestLabel)])
    usual = [OURS.weights["regression"], OURS.weights["nearest"]]
    np.testing.assert_allclose(np.array(weights) / usual * 6, [[1, 11], [2, 10], [5, 7], [6, 6], [6, 6]])
    bare = Tagger("PER", encoder=NamedEncoder(), names=False, cache=False).fit(["see [Pim](PER) and rain"]).model_
    assert bare.piece(Regression).weight == METHODS["handful"].weights["regression"]


def test_labels_overrule_names_that_mislead():
    swapped = {"PER": "Locations", "LOC": "People"}
    by_names = mentions(named(swapped).fit().predict(TEXT))
    assert by_names == [("Pim", "LOC"), ("Leiden", "PER"), ("Lot", "PER")]
    once, twice = (named(swapped).fit(some, UNLABELLED) for some in (SUPPORT[:1], SUPPORT))
    assert mentions(twice.predict(TEXT)) == FOUND
    trusted = [one.model_.piece(TypeNames).weights for one in (once, twice)]
    assert (trusted[0] > 0.2).all()  # one mention of each type says little
    assert (trusted[1] < 0.1).all()
    assert any(note.endswith("LOC, PER") and "do not fit the labelled words" in note for note in twice.summary_.notes)
    assert not any("does not fit" in note for note in named().fit(SUPPORT, UNLABELLED).summary_.notes)


def test_types_with_labels_beside_a_type_without():
    support = [*SUPPORT, "then Gaia met [Pia](PER) near [Lund](LOC)"]  # Gaia is not marked, for gods are not labelled
    model = named({**TYPES, "GOD": "Gods"}).fit(support, UNLABELLED)
    assert names(model) == ["GOD", "LOC", "PER"]
    assert mentions(model.predict("Pim saw Gus in Lima")) == [("Pim", "PER"), ("Gus", "GOD"), ("Lima", "LOC")]
    words = model.text_.labelled_words(names(model)).by_names(model.model_.piece(TypeNames), model.text_.features)
    (gaia,) = [i for i, place in enumerate(words.places.tolist()) if place == [2, 1]]
    assert words.allowed[gaia].tolist() == [True, True, False, False]  # it may be O or a god
    assert words.is_sure.sum() == len(words.rows) - 1
    logits = model.model_.piece(Regression).logits(model.text_.features[np.arange(5)])
    np.testing.assert_array_equal(logits[:, 1], logits[:, 0])  # labels say nothing of gods
    near = model.model_.piece(NearestLabel).logits(model.text_.features[np.arange(5)])
    np.testing.assert_array_equal(near[:, 1], near[:, 0])


def test_names_can_be_switched_off():
    model = named(names=False).fit(SUPPORT, UNLABELLED)
    plain = Tagger(encoder=ToyEncoder(), cache=False).fit(SUPPORT, UNLABELLED)
    assert model.predict(TEXT) == plain.predict(TEXT)
    assert not model.summary_.has_names


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (named(names=False), "names=False says that the names of types are not read"),
        (named(encoder=ToyEncoder()), "this encoder does not read the names of types"),
        (named(None), "there is no type to find"),
    ],
)
def test_nothing_to_go_by_is_an_error_before_the_text_is_encoded(model, message):
    with pytest.raises(DataError, match=message):
        model.fit(unlabelled=UNLABELLED)
    assert model.encoder.n_words == 0


@pytest.mark.parametrize("unlabelled", [None, UNLABELLED])
@pytest.mark.parametrize("support", [None, SUPPORT])
def test_saved_and_loaded(tmp_path, support, unlabelled):
    model = named().fit(support, unlabelled)
    model.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model", encoder=NamedEncoder(), cache=False)
    assert again.predict(TEXT) == model.predict(TEXT)
    assert again.explain(TEXT) == model.explain(TEXT)
    assert (again.types_, again.summary_) == (model.types_, model.summary_)
    again.add(["[Gap](ORG) sells to [Pia](PER)"], unlabelled)
    assert names(again) == ["LOC", "ORG", "PER"]


def test_explanations_say_what_each_piece_of_evidence_adds():
    model = named().fit(SUPPORT, UNLABELLED)
    found = model.explain(TEXT)[0]
    assert set(found.evidence) == {"names", "regression", "nearest", "prototypes"}
    features = NamedEncoder().encode([["Pim"]])
    logits = model.model_.logits(features)[0]
    second = model.model_.tags.index(found.runner_up)
    assert sum(found.evidence.values()) == pytest.approx(logits[2] - logits[second], rel=1e-4)
    assert named().fit().explain(TEXT)[0].prototype is None


def test_an_estimated_ratio_is_one_that_names_and_labels_leave_possible():
    """Names are words of the clustering, too, but the ratio is that of the text alone."""
    support = ["[Paul](PER) saw Gaia and nobody else in all of that very long and dull day of rain and hail"]
    model = Tagger(encoder=NamedEncoder(), types=["PER", "GOD"], cache=False).fit(support)
    assert mentions(model.predict("Then Pim ran")) == [("Pim", "PER")]
