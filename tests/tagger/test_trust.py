"""Names against labels: names that claim words which are labelled O are held back."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, softmax

from handful import Tagger
from handful.tagger._trust import (
    DOUBT_BY_SENTENCE,
    FITS,
    MOST_BY_OTHERS,
    MOST_DOUBT,
    SAYS_NOTHING,
    agreement,
    doubts,
    trust,
)
from handful.tagger.evidence import TypeNames

from .toy import UNLABELLED, NamedEncoder, mentions

TYPES = {"PER": "People", "LOC": "Locations", "GOD": "Gods"}


def made(seed=0, n=60, n_types=3, dim=6):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_types, dim)).astype(np.float32)
    o_vectors = rng.normal(size=(2, dim)).astype(np.float32)
    biases, o_biases = rng.normal(size=n_types).astype(np.float32), rng.normal(size=2).astype(np.float32)
    names = TypeNames(1.0, vectors, biases, o_vectors, o_biases, np.ones(n_types), np.zeros(n_types))
    return names, rng.normal(size=(n, dim)).astype(np.float32), rng.integers(0, 1 + n_types, n)


def oracle(names, words, tags, n_sentences):
    deviation = min(MOST_DOUBT, n_sentences * DOUBT_BY_SENTENCE)
    scores = names.scores(words)
    shifts = []
    for tag in range(1, scores.shape[1]):
        lead = scores[:, tag] - scores[:, 0]

        def loss(shift, lead=lead, tag=tag):
            own, of_o = log_expit(lead[tags == tag] + shift), log_expit(-(lead[tags == 0] + shift))
            return shift**2 / (2 * deviation**2) - own.sum() - of_o.sum()

        shifts.append(min(0.0, minimize_scalar(loss, bounds=(-40, 40), method="bounded", options={"xatol": 1e-10}).x))
    return np.array(shifts)


def test_shifts_are_those_that_make_labels_most_likely():
    found = []
    for seed in range(20):
        names, words, tags = made(seed)
        n_sentences = 1 + 3 * seed
        found.append(doubts(names, words, tags, [n_sentences] * 3))
        np.testing.assert_allclose(found[-1], oracle(names, words, tags, n_sentences), atol=1e-5)
    assert (np.array(found) < -0.1).any()
    assert (np.array(found) == 0).any()


def test_trust_is_the_chance_that_a_name_fits_and_is_not_one_that_means_nothing():
    found = []
    for seed in range(10):
        names, words, tags = made(seed, n=12)
        counts = np.bincount(tags, minlength=4)[1:]  # each word is a mention
        found.append(trust(names, words, tags, counts))
        chances = softmax(names.scores(words)[:, 1:], axis=1)
        fits = [np.prod((1 - SAYS_NOTHING) * chances[tags == t + 1, t] + SAYS_NOTHING / 3) * 3.0**n
                for t, n in enumerate(counts)]  # fmt: skip
        most = np.exp(MOST_BY_OTHERS)
        for t in range(3):
            others = [min(max(fits[u], 1 / most), most) for u in range(3) if u != t]
            odds = FITS * fits[t] * np.sqrt(np.prod(others))
            assert found[-1][t] == pytest.approx(odds / (1 + odds) if counts[t] else 1)
    assert (np.array(found) < 0.5).any()
    assert (np.array(found) > 0.9).any()
    assert (trust(names, words[:0], tags[:0], np.zeros(3, int)) == 1).all()


def agreement_by_hand(words, tags, sentences):
    right = asked = 0
    for i in np.flatnonzero(tags):
        others = [j for j in np.flatnonzero(tags) if sentences[j] != sentences[i]]
        if any(tags[j] == tags[i] for j in others):
            cosines = [words[i] @ words[j] / np.linalg.norm(words[i]) / np.linalg.norm(words[j]) for j in others]
            asked, right = asked + 1, right + (tags[others[int(np.argmax(cosines))]] == tags[i])
    return max(0.55, 1 + 2.6 * (right - 0.68 * asked) / (asked + 40))


def test_labels_count_by_whether_words_of_a_type_are_alike():
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tags, sentences = rng.integers(0, 4, 60), np.sort(rng.integers(0, 1 + seed, 60))
        words = rng.normal(size=(60, 6)) + (2 * np.eye(6)[tags] if seed % 2 else 0)
        words = words.astype(np.float32)
        found.append(agreement(words, tags, sentences))
        assert found[-1] == pytest.approx(agreement_by_hand(words, tags, sentences))
    assert found[0] == 1  # one sentence alone
    assert min(found) < 0.9
    assert max(found) > 1.1
    assert agreement(words, np.minimum(tags, 1), sentences) == 1  # one type alone


def test_a_shift_depends_on_the_own_type_alone():
    names, words, tags = made()
    order = np.array([2, 0, 1])
    turned = replace(names, vectors=names.vectors[order], biases=names.biases[order])
    new_tags = np.concatenate([[0], 1 + np.argsort(order)])[tags]
    np.testing.assert_array_equal(doubts(turned, words, new_tags, [9] * 3), doubts(names, words, tags, [9] * 3)[order])


def test_words_of_sentences_that_were_not_judged_for_a_type_do_not_count():
    moved = []
    for seed in range(10):
        names, words, tags = made(seed)
        is_open = np.zeros((len(tags), 4), bool)
        is_open[::2, 2] = tags[::2] == 0
        judged = ~is_open[:, 2]
        whole, part = oracle(names, words, tags, 9), oracle(names, words[judged], tags[judged], 9)
        np.testing.assert_allclose(
            doubts(names, words, tags, [9] * 3, is_open), [whole[0], part[1], whole[2]], atol=1e-5
        )
        moved.append(abs(part[1] - whole[1]))
    assert max(moved) > 0.1


def test_without_labels_no_name_is_held_back():
    names, words, tags = made()
    np.testing.assert_array_equal(doubts(names, words[:0], tags[:0], [0] * 3), np.zeros(3))


def test_labels_of_o_silence_a_name_that_claims_them():
    support = [
        "[Paul](PER) went to [London](LOC) with [Gaia](GOD)",
        *(f"the [Peter](PER) of [Lima](LOC) has a {thing} at home" for thing in ("Gun", "Gap", "Gin", "Gem", "Gym")),
        *(f"a {thing} and a Gable are here" for thing in ("Gate", "Gown", "Gear", "Grid", "Gold")),
    ]
    by_names = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit()
    assert mentions(by_names.predict("Then Pim saw a Gull")) == [("Pim", "PER"), ("Gull", "GOD")]
    model = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(support, UNLABELLED)
    held_back = dict(zip(TYPES, model.model_.piece(TypeNames).doubts[[2, 1, 0]], strict=True))
    assert held_back["GOD"] < -2
    assert held_back["PER"] > held_back["GOD"] / 2
    assert mentions(model.predict("Then Pim saw a Gull")) == [("Pim", "PER")]
