"""The deterministic start, against scikit-learn's Ward."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from drawn import examples
from handful.cluster import _start as start
from handful.cluster._start import initial_prototypes, ward


@examples(12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_ward_is_scikit_learns(seed, m):
    Y = np.random.default_rng(seed).normal(size=(40, 5)) + 3
    expected = AgglomerativeClustering(m, linkage="ward").fit_predict(Y)
    found = ward(Y, m)
    assert adjusted_rand_score(expected, found) == 1.0
    first = [np.flatnonzero(found == j)[0] for j in range(m)]
    assert first == sorted(first)


@examples(12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_ward_counts_a_row_as_often_as_its_weight(seed, m):
    rng = np.random.default_rng(seed)
    Y, weights = rng.normal(size=(30, 5)), rng.integers(1, 6, 30)
    repeated = AgglomerativeClustering(m, linkage="ward").fit_predict(np.repeat(Y, weights, axis=0))
    expected = repeated[np.cumsum(weights) - 1]
    assert adjusted_rand_score(expected, ward(Y, m, weights.astype(float))) == 1.0


def test_ward_takes_rows_that_are_the_same():
    Y = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 5, axis=0)
    assert ward(Y, 4).tolist() == np.repeat(range(4), 5).tolist()
    assert ward(np.zeros((6, 2)), 1).tolist() == [0] * 6
    rng = np.random.default_rng(1)
    nearly = np.repeat(rng.normal(size=(3, 40)), 200, axis=0) * (1 + 1e-7 * rng.integers(0, 2, (600, 40)))
    assert ward(nearly.astype(np.float32), 3).tolist() == np.repeat(range(3), 200).tolist()


@pytest.mark.parametrize("scale", [1e-30, 1e18, 1e30])
def test_ward_takes_rows_whose_squares_would_overflow(scale):
    Y = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    assert ward(Y * np.float32(scale), 6).tolist() == ward(Y, 6).tolist()


def test_ward_takes_weights_of_any_size():
    Y = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    light = np.arange(30) % 2 == 0
    clusters = ward(Y, 6, np.where(light, 1e-60, 1.0))  # light rows cost nothing, wherever they go
    assert len(set(clusters.tolist())) == 6


def test_one_prototype_is_the_mean_and_several_are_means_of_ward_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    rows = [np.arange(0, 30), np.arange(30, 60)]
    C, tags = initial_prototypes(X, rows, [3, 1])
    assert tags.tolist() == [0, 0, 0, 1]
    clusters = AgglomerativeClustering(3, linkage="ward").fit_predict(X[:30].astype(float))
    expected = {tuple(X[:30][clusters == j].mean(axis=0, dtype=float).round(9)) for j in range(3)}
    assert {tuple(row) for row in C[:3].round(9)} == expected
    np.testing.assert_allclose(C[3], X[30:].mean(axis=0, dtype=float))


def test_a_tag_with_few_distinct_rows_gets_as_many_prototypes():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [2.0, 3.0]])
    C, tags = initial_prototypes(X, [np.arange(5)], [10])
    assert tags.tolist() == [0, 0]
    assert C.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_of_very_many_words_evenly_spaced_ones_are_taken(monkeypatch):
    monkeypatch.setattr(start, "MAX_WARD", 4)
    X = np.arange(100.0)[:, None]
    C, _ = initial_prototypes(X, [np.arange(100)], [4])
    assert C.ravel().tolist() == [0.0, 25.0, 50.0, 75.0]
    mean, _ = initial_prototypes(X, [np.arange(100)], [1])
    assert mean.item() == 49.5  # a mean needs no sample


def test_of_very_many_words_those_are_taken_that_weigh_most(monkeypatch):
    monkeypatch.setattr(start, "MAX_WARD", 8)
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20, 3)), rng.integers(0, 9, 20)
    repeated = np.repeat(X, weights, axis=0)
    expected, _ = initial_prototypes(repeated, [np.arange(len(repeated))], [3])
    found, _ = initial_prototypes(X, [np.arange(20)], [3], weights=weights.astype(float))
    np.testing.assert_allclose(found, expected)
