"""The projection, U: the directions in which the prototypes stand apart.

For fixed assignments, U spans the leading generalised eigenvectors of (S_b, S_w), the scatter between and within
prototypes. S_t = S_w + S_b does not depend on the assignments, so a round costs one Cholesky factorisation and one
thin SVD, with no pass over the data.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ._statistics import Moments

__all__ = ["between", "discriminant", "oas", "within_variance"]

Matrix = NDArray[np.float64]

FLOOR = 1e-9  # of the mean variance, added to S_w so that it has a Cholesky factor
RANK = 1e-6  # directions whose singular value is below this share of the largest are noise
ROUNDING = 1e-12  # prototypes whose squares differ by less than this share are in one place


def between(C: Matrix, counts: NDArray[np.float64], moments: Moments) -> Matrix:
    """Return M (k, d) with S_b = M^T M: M[j] = sqrt(n_j / n) (c_j - xbar)."""
    return np.asarray(np.sqrt(counts / moments.n)[:, None] * (C - moments.mean))


def within_variance(M: Matrix, moments: Moments) -> float:
    """Return the trace of S_w = S_t - S_b, the mean squared distance of words to their prototypes when U = I."""
    return max(0.0, moments.total_variance - float((M**2).sum()))


def discriminant(
    M: Matrix, moments: Moments, *, scaling: str = "within", shrinkage: str | float | None = "oas"
) -> tuple[Matrix | None, float]:
    """Return the projection U and the objective that it reaches.

    With S_w shrunk, S_w = L L^T and L^{-1} M^T = Q diag(sigma) V^T, the projection is U = L^{-T} Q: its columns are
    generalised eigenvectors of (S_b, S_w) with eigenvalues sigma^2, and U^T S_w U = I. Dividing column j by
    sqrt(1 + sigma_j^2) makes U^T (S_w + S_b) U = I instead.

    Parameters
    ----------
    M : (k, d), from :func:`between`
    moments : with the whole scatter
    scaling : "within" or "total", which of both the columns are scaled to
    shrinkage : "oas", a number from 0 to 1, or None

    Returns
    -------
    U : (d, p), the sign of each column such that its largest entry is positive; None (for I) where all prototypes are
        in one place
    objective : tr(U^T S_w U) under "total" scaling with S_w as it is before shrinkage: the mean of A * D
    """
    S_t = moments.covariance
    k, d = M.shape
    noise = ROUNDING * (moments.total_variance + float((moments.mean**2).sum()))
    if k == 1 or float((M**2).sum()) <= noise:
        return None, within_variance(M, moments)
    S_w = S_t - M.T @ M
    L = _factor(_shrink(S_w, moments.n, shrinkage), floor=FLOOR * moments.total_variance / d)
    Q, sigma, _ = np.linalg.svd(solve_triangular(L, M.T, lower=True), full_matrices=False)
    p = min(int(np.count_nonzero(sigma > RANK * sigma[0])), k - 1)
    U = solve_triangular(L, Q[:, :p], lower=True, trans="T")
    U *= np.sign(U[np.abs(U).argmax(axis=0), np.arange(p)])
    U_total = U / np.sqrt(1 + sigma[:p] ** 2)
    objective = max(0.0, float(np.sum(U_total * (S_w @ U_total))))
    return (U if scaling == "within" else U_total), objective


def _shrink(S: Matrix, n: float, shrinkage: str | float | None) -> Matrix:
    """Return (1 - rho) S + rho tr(S) / d I."""
    rho = oas(S, n) if shrinkage == "oas" else float(shrinkage or 0)
    if rho == 0:
        return S
    shrunk = (1 - rho) * S
    shrunk.flat[:: len(S) + 1] += rho * np.trace(S) / len(S)
    return np.asarray(shrunk)


def oas(S: Matrix, n: float) -> float:
    """Return the shrinkage of a covariance S (d, d) of n rows by the oracle approximating rule.

    Chen, Wiesel, Eldar and Hero (2010), in the form that scikit-learn computes:
    rho = (a + mu^2) / ((n + 1) (a - mu^2 / d)), at most 1, with a the mean of S squared and mu = tr(S) / d.
    """
    d = len(S)
    a, mu_2 = float(np.mean(S**2)), float(np.trace(S) / d) ** 2
    denominator = (n + 1) * (a - mu_2 / d)
    return 1.0 if denominator <= 0 else min(1.0, (a + mu_2) / denominator)


def _factor(S: Matrix, floor: float) -> Matrix:
    """Return the lower Cholesky factor of S + floor I; the floor grows where rounding made S indefinite."""
    while True:
        try:
            return np.asarray(cholesky(S + floor * np.eye(len(S)), lower=True))
        except LinAlgError:
            floor *= 10
