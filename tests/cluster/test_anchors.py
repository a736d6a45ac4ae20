"""Labelled rows that are not words of the data: they count for prototypes, but not for the ratio."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_words import MODES, SEEDS, made_words

from handful.cluster import Labels, SubspaceKMeans
from handful.errors import DataError, RatioError


def made_anchors(seed=0, d=8):
    """Return two anchors of O and one of each other tag, far from where made words lie."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, d)) + 2, np.array([0, 1, 2, 3, 0])


def slow_fit(X, y, rows, tags, ratio, n_rounds):
    """Return the prototypes, one per tag, and the tags of words, by the definition: one word after the other."""
    C = np.stack([np.concatenate([X[y == t], rows[tags == t]]).mean(axis=0) for t in range(4)])
    n_o = int(np.floor(ratio * len(X) + 0.5))
    for _ in range(n_rounds):
        found, costs = np.empty(len(X), int), []
        for i, x in enumerate(X):
            distances = [((x - c) ** 2).sum() for c in C]
            found[i] = y[i] if y[i] >= 0 else 1 + np.argmin(distances[1:])
            if y[i] < 0:
                costs.append((distances[0] - min(distances[1:]), i))
        for _, i in sorted(costs)[: n_o - int((y == 0).sum())]:
            found[i] = 0
        C = np.stack([np.concatenate([X[found == t], rows[tags == t]]).mean(axis=0) for t in range(4)])
    return C, found


@given(SEEDS, st.floats(0.3, 0.8), st.integers(1, 4))
@settings(max_examples=20)
def test_a_fit_with_anchors_is_that_of_the_definition(seed, ratio, n_rounds):
    X, y, _ = made_words(seed, n=120, apart=1.0)
    rows, tags = made_anchors(seed)
    model = SubspaceKMeans(ratio, subspace=False, o_prototypes=1, max_iter=n_rounds)
    model.fit(X, y, anchors=(rows, tags))
    C, found = slow_fit(X, y, rows, tags, ratio, n_rounds)
    np.testing.assert_allclose(model.prototypes_, C)
    assert model.tags_.tolist() == found.tolist()
    assert model.o_share_ == (found == 0).mean()


@MODES
@pytest.mark.parametrize("kind", ["tags", "matrix", "labels"])
def test_anchors_are_labelled_words_outside_the_ratio(assignment, kind):
    X, y, _ = made_words(apart=1.0)
    rows, tags = made_anchors()
    matrix = np.where(y[:, None] < 0, True, y[:, None] == np.arange(4))
    given = {"tags": y, "matrix": matrix, "labels": Labels.from_matrix(matrix)}[kind]
    weights = np.where(y < 0, 1.0, 3.0)
    n, m = len(X), len(rows)
    model = SubspaceKMeans(0.7, assignment=assignment)
    model.fit(X, given, anchors=(rows, tags), sample_weight=np.r_[weights, np.full(m, 3.0)])
    assert model.o_share_ == pytest.approx(0.7)
    whole = SubspaceKMeans((0.7 * n + 2) / (n + m), assignment=assignment)
    whole.fit(np.concatenate([X, rows]), np.r_[y, tags], sample_weight=np.r_[weights, np.full(m, 3.0)])
    np.testing.assert_allclose(model.prototypes_, whole.prototypes_, rtol=1e-9)
    np.testing.assert_allclose(model.projection_, whole.projection_, rtol=1e-6, atol=1e-9)
    assert model.labels_.tolist() == whole.labels_[:n].tolist()
    assert model.tags_.tolist() == whole.tags_[:n].tolist()
    if assignment == "soft":
        np.testing.assert_allclose(model.responsibilities_, whole.responsibilities_[:n], atol=1e-9)
        assert model.responsibilities_[:, model.prototype_tags_ == 0].sum() == pytest.approx(0.7 * n)
    assert model.o_ratio == 0.7


def test_anchors_alone_are_enough_to_start_from():
    X, _, truth = made_words(apart=4.0)
    rows = np.stack([X[truth == t][:5].mean(axis=0) for t in range(4)])
    names = np.array(["O", "LOC", "ORG", "PER"])
    model = SubspaceKMeans((truth == 0).mean(), o_tag="O").fit(X, np.full(len(X), -1), anchors=(rows, names))
    assert (model.tags_ == names[truth]).mean() > 0.9
    assert len(model.tags_) == len(X)


def test_the_ratio_that_is_possible_is_that_of_the_words():
    X, y, _ = made_words()
    n_o, n_entity = (y == 0).sum(), (y > 0).sum()
    with pytest.raises(RatioError, match=f"among {len(X)}, .* {n_o} words O and {n_entity} words entities"):
        SubspaceKMeans(1.0).fit(X, y, anchors=made_anchors())


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        (np.zeros((1, 8)), "must be a pair"),
        ((np.zeros(8), [1]), r"anchors have the shapes \(8,\) and \(1,\), expected numbers \(m, 8\)"),
        ((np.zeros((1, 7)), [1]), "anchors have the shapes"),
        ((np.zeros((2, 8)), [1]), "anchors have the shapes"),
        ((np.full((1, 8), np.nan), [1]), "row 0 of the anchors has a number that is not finite"),
        ((np.zeros((1, 8)), [9]), "an anchor has the tag 9, which y does not have"),
    ],
)
def test_anchors_that_cannot_be_used(anchors, message):
    X, y, _ = made_words()
    matrix = np.where(y[:, None] < 0, True, y[:, None] == np.arange(4))
    with pytest.raises(DataError, match=message):
        SubspaceKMeans().fit(X, matrix, anchors=anchors)


def test_weights_with_anchors_are_those_of_words_and_anchors():
    X, y, _ = made_words()
    with pytest.raises(DataError, match="one for each row of X and each anchor"):
        SubspaceKMeans().fit(X, y, anchors=made_anchors(), sample_weight=np.ones(len(X)))
