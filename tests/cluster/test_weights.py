"""Weights of words: a weight of 2 is a word that stands there twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful._util.passes import ByBlock
from handful.cluster import SubspaceKMeans
from handful.cluster._prototypes import HardSums
from handful.cluster._statistics import Moments
from handful.cluster.labels import Weights
from handful.errors import DataError

SEEDS = st.integers(0, 2**32 - 1)


def made(seed, n=60, d=4):
    """Make words of three tags, a few of them labelled."""
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 3 * tags[:, None] * np.eye(3, d)[tags]
    y = np.full(n, -1)
    for tag in range(3):
        y[np.flatnonzero(tags == tag)[:3]] = tag
    return X, y, rng.integers(0, 4, n)


@given(SEEDS)
def test_moments_count_a_row_as_often_as_its_weight(seed):
    X, _, weights = made(seed)
    weights[0] = 1
    rows = np.repeat(X, weights, axis=0)
    for dtype in (np.float32, np.float64):
        moments = Moments.of(X.astype(dtype), Weights.of(weights.astype(float)))
        assert moments.n == len(rows)
        np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(moments.covariance, np.cov(rows.T, bias=True), rtol=1e-4, atol=1e-4)


@given(SEEDS)
def test_sums_count_a_row_as_often_as_its_weight(seed):
    X, _, weights = made(seed)
    labels = np.random.default_rng(seed).integers(0, 5, len(X))
    expected = np.stack([np.repeat(X[labels == j], weights[labels == j], axis=0).sum(axis=0) for j in range(5)])
    sums = HardSums(X, np.arange(5) == 0, Weights.of(weights.astype(float)))
    found = sums.update(ByBlock.of(labels, len(X)))
    np.testing.assert_allclose(found.S, expected, atol=1e-9)
    assert found.mass == weights.sum()


@pytest.mark.parametrize("assignment", ["hard", "soft"])
@given(seed=SEEDS)
def test_a_fit_with_weights_is_one_on_repeated_words(assignment, seed):
    X, y, weights = made(seed)
    weights[[np.flatnonzero(y == tag)[0] for tag in range(3)]] = 1  # each tag has a word that counts
    model = SubspaceKMeans(assignment=assignment, o_prototypes=2, type_prototypes=2, max_iter=4)
    weighted = model.fit(X, y, sample_weight=weights).prototypes_.copy()
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).prototypes_
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_a_tag_whose_words_all_have_the_weight_0_is_refused():
    X, y, _ = made(4)
    with pytest.raises(DataError, match="no word of a weight above 0 is labelled with tag 1 alone"):
        SubspaceKMeans().fit(X, y, sample_weight=np.where(y == 1, 0, 1))


def test_weights_that_are_all_the_same_change_no_start():
    X, y, _ = made(5)
    plain, heavy = (SubspaceKMeans().fit(X, y, sample_weight=np.where(y >= 0, w, 1e-9)) for w in (1, 1000))
    np.testing.assert_allclose(plain.prototypes_, heavy.prototypes_, atol=1e-6)


def test_weights_of_one_change_nothing():
    X, y, _ = made(0)
    plain = SubspaceKMeans(0.4).fit(X, y)
    weighted = SubspaceKMeans(0.4).fit(X, y, sample_weight=np.ones(len(X)))
    np.testing.assert_allclose(weighted.prototypes_, plain.prototypes_, atol=1e-9)
    np.testing.assert_allclose(weighted.objective_, plain.objective_, atol=1e-9)


def test_heavy_labels_keep_their_prototype():
    X, y, _ = made(1)
    X[y == 1] += 1.5  # labelled words off the middle of their tag
    own = X[y == 1].mean(axis=0)
    near, far = (
        np.linalg.norm(SubspaceKMeans().fit(X, y, sample_weight=np.where(y >= 0, w, 1)).prototypes_[-2] - own)
        for w in (1000, 1)
    )
    assert near < 0.1 < far


def test_the_ratio_counts_words_whatever_their_weight():
    X, y, weights = made(2)
    for assignment in ("hard", "soft"):
        model = SubspaceKMeans(0.5, assignment=assignment).fit(X, y, sample_weight=weights + 0.5)
        assert model.o_share_ == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"shape \(3,\), expected \(60,\)"),
        (np.r_[np.ones(59), -1], r"sample_weight\[59\] is -1"),
        (np.r_[np.nan, np.ones(59)], r"sample_weight\[0\] is nan"),
        (np.zeros(60), "all weights"),
        (["much"] * 60, "must be numbers"),
    ],
)
def test_weights_that_are_not_possible(weights, message):
    X, y, _ = made(3)
    with pytest.raises(DataError, match=message):
        SubspaceKMeans().fit(X, y, sample_weight=weights)
