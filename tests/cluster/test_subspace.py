"""U, against the dense generalised eigenproblem, and the scatter identities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles
from sklearn.covariance import oas as sklearn_oas

from drawn import examples
from handful.cluster._statistics import Moments
from handful.cluster._subspace import between, discriminant, oas, within_variance

SEEDS = st.integers(0, 2**32 - 1)


def made_clusters(seed, n=80, d=6, k=4, soft=False):
    """Return X, assignments A (n, k), and their prototypes and counts computed word by word."""
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(k), rng.integers(0, k, n - k)]
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(k, d))[labels] + 10
    A = rng.dirichlet(np.ones(k), size=n) if soft else np.eye(k)[labels]
    counts = A.sum(axis=0)
    return X, A, A.T @ X / counts[:, None], counts


def scatters(X, A, C):
    """Return S_w and S_b from their definitions, one outer product at a time."""
    n, mean = len(X), X.mean(axis=0)
    S_w = sum(A[i, j] * np.outer(X[i] - C[j], X[i] - C[j]) for i in range(n) for j in range(len(C))) / n
    S_b = sum(A[i, j] * np.outer(C[j] - mean, C[j] - mean) for i in range(n) for j in range(len(C))) / n
    return S_w, S_b


@examples(10)
@given(SEEDS, st.booleans())
def test_total_scatter_is_within_plus_between_for_hard_and_soft(seed, soft):
    X, A, C, counts = made_clusters(seed, soft=soft)
    S_w, S_b = scatters(X, A, C)
    moments = Moments.of(X)
    M = between(C, counts, moments)
    np.testing.assert_allclose(M.T @ M, S_b, atol=1e-10)
    np.testing.assert_allclose(moments.covariance, S_w + S_b, rtol=1e-9, atol=1e-9)
    assert within_variance(M, moments) == pytest.approx(np.trace(S_w))


@examples(10)
@given(SEEDS, st.booleans(), st.sampled_from([None, 0.1]))
def test_projection_spans_the_leading_generalised_eigenvectors(seed, soft, shrinkage):
    X, A, C, counts = made_clusters(seed, soft=soft)
    S_w, S_b = scatters(X, A, C)
    if shrinkage:
        S_w = (1 - shrinkage) * S_w + shrinkage * np.trace(S_w) / len(S_w) * np.eye(len(S_w))
    _, vectors = eigh(S_b, S_w)
    moments = Moments.of(X)
    U, _ = discriminant(between(C, counts, moments), moments, shrinkage=shrinkage)
    p = len(C) - 1
    assert U.shape == (6, p)
    assert subspace_angles(U, vectors[:, -p:]).max() < 1e-4


@pytest.mark.parametrize("soft", [False, True])
def test_scalings_make_their_scatter_the_identity(soft):
    X, A, C, counts = made_clusters(1, soft=soft)
    S_w, S_b = scatters(X, A, C)
    moments = Moments.of(X)
    M = between(C, counts, moments)
    within, objective = discriminant(M, moments, shrinkage=None)
    total, same = discriminant(M, moments, shrinkage=None, scaling="total")
    np.testing.assert_allclose(within.T @ S_w @ within, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(total.T @ (S_w + S_b) @ total, np.eye(3), atol=1e-6)
    direct = np.mean(
        [A[i, j] * ((X[i] - C[j]) @ total) @ (total.T @ (X[i] - C[j])) for i in range(80) for j in range(4)]
    )
    assert objective == same == pytest.approx(4 * direct)


@pytest.mark.parametrize("shrinkage", [None, 0.3, 0.99, 0.9999, 1.0])
def test_the_objective_is_that_of_the_scatter_before_it_is_shrunk(shrinkage):
    X, A, C, counts = made_clusters(1)
    S_w, _ = scatters(X, A, C)
    moments = Moments.of(X)
    total, objective = discriminant(between(C, counts, moments), moments, shrinkage=shrinkage, scaling="total")
    assert objective == pytest.approx(np.trace(total.T @ S_w @ total), rel=1e-6)


def test_the_largest_entry_of_each_column_is_positive():
    X, _, C, counts = made_clusters(2)
    moments = Moments.of(X)
    U, _ = discriminant(between(C, counts, moments), moments)
    assert (U[np.abs(U).argmax(axis=0), range(3)] > 0).all()


@pytest.mark.parametrize("n", [4, 30, 3000])
def test_oas_is_scikit_learns(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 10)) @ rng.normal(size=(10, 10))
    X -= X.mean(axis=0)
    assert oas(X.T @ X / n, n) == pytest.approx(sklearn_oas(X, assume_centered=True)[1])


def test_oas_of_a_multiple_of_the_identity_shrinks_wholly():
    assert oas(3 * np.eye(1), 10) == 1.0


@pytest.mark.parametrize("shrinkage", ["oas", None, 0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fewer_words_than_dimensions_give_a_finite_projection_that_separates(shrinkage, dtype):
    X, _, C, counts = made_clusters(4, n=12, d=40)
    X = X.astype(dtype)
    moments = Moments.of(X)
    U, objective = discriminant(between(C, counts, moments), moments, shrinkage=shrinkage)
    assert U.shape[1] <= 3
    assert np.isfinite(U).all()
    assert np.isfinite(objective)
    P = C @ U
    assert min(np.linalg.norm(P[a] - P[b]) for a in range(4) for b in range(a)) > 1e-3


@pytest.mark.parametrize("shrinkage", ["oas", None])
def test_words_all_at_their_prototypes_give_a_finite_projection(shrinkage):
    C = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    X = np.repeat(C, 5, axis=0)
    moments = Moments.of(X)
    U, objective = discriminant(between(C, np.array([5.0, 5.0]), moments), moments, shrinkage=shrinkage)
    assert U.shape == (3, 1)
    assert np.isfinite(U).all()
    assert objective == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prototypes_in_one_place_keep_the_identity(dtype):
    X = (np.random.default_rng(0).normal(size=(50, 4)) + 100).astype(dtype)
    moments = Moments.of(X)
    C = np.tile(X.mean(axis=0, dtype=dtype), (3, 1)).astype(float)
    U, objective = discriminant(between(C, np.array([20.0, 20.0, 10.0]), moments), moments)
    assert U is None
    assert objective == pytest.approx(X.var(axis=0).sum(), rel=1e-3)


def test_empty_prototypes_have_no_say():
    X, _, C, counts = made_clusters(6)
    moments = Moments.of(X)
    U, objective = discriminant(between(C, counts, moments), moments)
    C = np.vstack([C, np.full(6, 1e3)])
    with_empty, same = discriminant(between(C, np.r_[counts, 0.0], moments), moments)
    assert subspace_angles(U, with_empty).max() < 1e-6
    assert objective == pytest.approx(same)
