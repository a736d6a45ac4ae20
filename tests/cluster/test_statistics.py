"""Block statistics, against NumPy over whole arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful._util import arrays
from handful._util.arrays import Part, Rows, row_blocks
from handful._util.passes import ByBlock, map_rows
from handful.cluster._distances import Distances, squared_distances
from handful.cluster._prototypes import HardSums, SoftSums, means
from handful.cluster._statistics import Moments, check_finite, weighted_moments
from handful.cluster.labels import Weights
from handful.errors import DataError

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(params=[1 << 12, 1 << 23], ids=["many blocks", "one block"])
def _blocks(request, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", request.param)


def made_rows(dtype, n=500, d=7):
    return (np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1) + 5).astype(dtype)


def by_block(X, values):
    return map_rows(lambda where, _: values[where], X)


DTYPES = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 1e-4), (np.float32, 1e-5), (np.float64, 1e-12)])


@DTYPES
@pytest.mark.usefixtures("_blocks")
def test_moments(dtype, tolerance):
    X = made_rows(dtype)
    exact = X.astype(np.float64)
    moments = Moments.of(X)
    assert moments.n == 500
    np.testing.assert_allclose(moments.mean, exact.mean(axis=0), rtol=tolerance)
    np.testing.assert_allclose(moments.covariance, np.cov(exact.T, bias=True), rtol=tolerance, atol=100 * tolerance)
    diagonal = Moments.of(X, whole=False)
    np.testing.assert_allclose(diagonal.covariance, exact.var(axis=0), rtol=10 * tolerance)
    assert diagonal.total_variance == pytest.approx(moments.total_variance)


def test_moments_of_parts_add_up_to_those_of_the_whole():
    X = made_rows(np.float64)
    parts = Moments.of(X[:100]) + (Moments.of(X[100:101]) + Moments.of(X[101:]))
    whole = Moments.of(X)
    np.testing.assert_allclose(parts.mean, whole.mean)
    np.testing.assert_allclose(parts.scatter, whole.scatter, atol=1e-9)


def test_moments_keep_their_digits_far_from_zero():
    X = made_rows(np.float64)
    far = Moments.of(X + 1e6)
    np.testing.assert_allclose(far.covariance, Moments.of(X).covariance, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_heavier", [0, 20, 400])
@pytest.mark.parametrize("lightest", [0.0, 1.0])
def test_weighted_moments_of_parts_are_those_of_all_rows(n_heavier, lightest):
    X = made_rows(np.float64)
    weights = np.full(500, 1.0)
    weights[3 : 3 + n_heavier] = 7.5
    weights[-1] = lightest
    weights = Weights.of(weights)
    found = weighted_moments(Rows([Part(X[:200]), Part(X[200:200]), Part(X[200:])]), weights)
    expected = Moments.of(X, weights)
    assert found.n == pytest.approx(expected.n)
    np.testing.assert_allclose(found.mean, expected.mean)
    np.testing.assert_allclose(found.scatter, expected.scatter, atol=1e-9)


def test_moments_of_a_part_are_taken_once():
    X = made_rows(np.float64)
    text = Part(X)
    first = weighted_moments(Rows([text]), None)
    more = Part(X[:5] + 1)
    second = weighted_moments(Rows([text, more]), Weights.of(np.r_[np.full(9, 2.0), np.ones(496)]))
    expected = Moments.of(np.concatenate([X, X[:9], more.array]))
    np.testing.assert_allclose(second.scatter, expected.scatter, atol=1e-9)
    X[:] = np.nan  # who reads it again, sees this
    again = weighted_moments(Rows([text]), None)
    assert again.scatter.tobytes() == first.scatter.tobytes()
    with pytest.raises(DataError):
        weighted_moments(Rows([Part(X)]), None)


@DTYPES
@pytest.mark.usefixtures("_blocks")
def test_sums(dtype, tolerance):
    X = made_rows(dtype)
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, len(X))
    expected = np.stack([X[labels == j].sum(axis=0, dtype=np.float64) for j in range(5)])
    is_o = np.arange(5) < 2
    found = HardSums(X, is_o).update(by_block(X, labels))
    np.testing.assert_allclose(found.S, expected, rtol=tolerance, atol=100 * tolerance)
    A = np.asfortranarray(rng.random((len(X), 5)))
    found = SoftSums(X, is_o).update(by_block(X, A))
    np.testing.assert_allclose(found.S, A.T @ X.astype(float), rtol=10 * tolerance)
    np.testing.assert_allclose(found.counts, A.sum(axis=0))
    assert found.o_mass == pytest.approx(A[:, :2].sum())
    assert found.n_changed == found.mass == len(X)


@DTYPES
@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.usefixtures("_blocks")
def test_squared_distances(dtype, tolerance, projected):
    X = made_rows(dtype, n=90)
    rng = np.random.default_rng(2)
    C, U = rng.normal(size=(4, 7)) + 5, rng.normal(size=(7, 3))
    D = squared_distances(X, C, U if projected else None, origin=X.mean(axis=0, dtype=np.float64))
    difference = X.astype(float)[:, None, :] - C
    if projected:
        difference = difference @ U
    np.testing.assert_allclose(D, (difference**2).sum(axis=2), rtol=20 * tolerance, atol=200 * tolerance)
    assert D.dtype == np.float64


@DTYPES
@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.usefixtures("_blocks")
def test_relative_distances_are_squared_distances_up_to_a_number_for_each_row(dtype, tolerance, projected):
    X = made_rows(dtype, n=150)
    rng = np.random.default_rng(2)
    C, U = rng.normal(size=(4, 7)) + 5, rng.normal(size=(7, 3)) if projected else None
    origin = X.mean(axis=0, dtype=np.float64)
    blocks = Distances(X, C, U, origin, np.arange(4)).map(lambda _, D: D).values
    D = np.concatenate([D.T for D in blocks], axis=1).T
    exact = ((X.astype(float)[:, None, :] - C) @ (np.eye(7) if U is None else U)) ** 2
    exact = exact.sum(axis=2)
    np.testing.assert_allclose(D - D[:, :1], exact - exact[:, :1], rtol=20 * tolerance, atol=2000 * tolerance)
    assert D.dtype == np.float64
    assert D.flags.f_contiguous


def test_a_row_at_its_prototype_is_at_distance_zero_not_below():
    X = np.full((3, 5), 0.1, np.float32) + 1e4
    D = squared_distances(X, X[:1].astype(float), None, origin=np.zeros(5))
    assert (D >= 0).all()


def test_blocks_cover_every_row_once_and_copy_none():
    X = made_rows(np.float32, n=100_000, d=64)
    seen = 0
    for where, block in row_blocks(X):
        assert where.start == seen
        assert np.shares_memory(block, X)
        seen = where.stop
    assert seen == len(X)


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("check", [Moments.of, check_finite])
@pytest.mark.usefixtures("_blocks")
def test_a_value_that_is_not_finite_is_named(value, name, check):
    X = made_rows(np.float32)
    X[401, 3] = value
    with pytest.raises(DataError, match=f"contains {name} at row 401, column 3"):
        check(X)


def test_large_values_whose_sum_overflows_are_no_error():
    X = np.full((20, 2), 3e37, np.float32)
    check_finite(X)
    assert Moments.of(X, whole=False).mean == pytest.approx([3e37, 3e37], rel=1e-6)


@given(SEEDS, st.integers(2, 40))
def test_running_sums_equal_sums_from_scratch_however_words_move(seed, n_rounds):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    labels = rng.integers(0, 4, 60)
    sums = HardSums(X, np.arange(5) == 0)
    assert sums.update(ByBlock.of(labels, 60)).n_changed == 60
    for _ in range(n_rounds):
        moving = rng.permutation(60)[: rng.integers(0, 12)]
        labels = labels.copy()
        before = labels.copy()
        labels[moving] = rng.integers(0, 4, len(moving))
        found = sums.update(ByBlock.of(labels, 60))
        assert found.o_mass == (labels == 0).sum()
        assert found.n_changed == (labels != before).sum()
        assert found.change == (labels != before).any()
        np.testing.assert_allclose(found.S, [X[labels == j].sum(axis=0) for j in range(5)], atol=1e-12)
        assert found.counts.tolist() == [(labels == j).sum() for j in range(5)]


def test_a_prototype_without_mass_keeps_its_place():
    C = means(np.array([[4.0, 8.0], [0.0, 0.0]]), np.array([4.0, 0.0]), np.array([[9.0, 9.0], [5.0, 6.0]]))
    assert C.tolist() == [[1.0, 2.0], [5.0, 6.0]]
