"""The projection, U: the directions in which the prototypes stand apart.

For fixed assignments, U spans the leading generalised eigenvectors of (S_b, S_w), the scatter between and within
prototypes. S_t = S_w + S_b does not depend on the assignments, so a round costs one Cholesky factorisation and one
thin SVD, with no pass over the data.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from ._statistics import Moments

Matrix = NDArray[np.float64]

FLOOR = 1e-9  # of the mean variance, added to S_w so that it has a Cholesky factor
RANK = 1e-6  # directions whose singular value is below this share of the largest are noise
MOSTLY = 0.999  # of a scatter that is shrunk further, too few digits are left
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
    sqrt(1 + sigma_j^2) makes U^T (S_w + S_b) U = I instead (`scaling` "total").

    U is (d, p), the sign of each column such that its largest entry is positive; None (for I) where all prototypes are
    in one place. The objective is tr(U^T S_w U) under "total" scaling with S_w as it is before shrinkage: the mean of
    A * D. M (k, d) comes from :func:`between`.
    """
    S_t = moments.covariance
    k, d = M.shape
    noise = ROUNDING * (moments.total_variance + float((moments.mean**2).sum()))
    if k == 1 or float((M**2).sum()) <= noise:
        return None, within_variance(M, moments)
    S_w = _within(M, S_t)
    rho = oas(S_w, moments.n) if shrinkage == "oas" else float(shrinkage or 0)
    ridge, floor = rho * float(np.trace(S_w)) / d, FLOOR * moments.total_variance / d
    L = _factor(S_w, rho, ridge + floor)
    while L is None:  # rounding made S_w indefinite
        floor *= 10
        L = _factor(_within(M, S_t), rho, ridge + floor)
    Q, sigma, _ = np.linalg.svd(_solve(L, M.T), full_matrices=False)
    p = min(int(np.count_nonzero(sigma > RANK * sigma[0])), k - 1)
    U = _solve(L, Q[:, :p], transposed=True)
    U *= np.sign(U[np.abs(U).argmax(axis=0), np.arange(p)])
    if rho <= MOSTLY:  # U^T S_w U follows from U^T ((1 - rho) S_w + (ridge + floor) I) U = I
        spread = (1 - (ridge + floor) * (U**2).sum(axis=0)) / (1 - rho)
    else:
        spread = (U * (S_t @ U)).sum(axis=0) - ((M @ U) ** 2).sum(axis=0)
    total = 1 + sigma[:p] ** 2
    return (U if scaling == "within" else U / np.sqrt(total)), max(0.0, float((spread / total).sum()))


def oas(S: Matrix, n: float) -> float:
    """Return the shrinkage of a covariance S (d, d) of n rows by the oracle approximating rule.

    Chen, Wiesel, Eldar and Hero (2010), in the form that scikit-learn computes:
    rho = (a + mu^2) / ((n + 1) (a - mu^2 / d)), at most 1, with a the mean of S squared and mu = tr(S) / d.
    """
    d = len(S)
    a, mu_2 = float(np.vdot(S, S)) / d**2, float(np.trace(S) / d) ** 2
    denominator = (n + 1) * (a - mu_2 / d)
    return 1.0 if denominator <= 0 else min(1.0, (a + mu_2) / denominator)


def _within(M: Matrix, S_t: Matrix) -> Matrix:
    """Return S_w = S_t - M^T M."""
    S_b = np.matmul(M.T, M.copy())  # a copy, because NumPy multiplies a matrix by its own transpose in a slower way
    return np.subtract(S_t, S_b, out=S_b)


def _factor(S: Matrix, rho: float, ridge: float) -> Matrix | None:
    """Return the lower Cholesky factor of (1 - rho) S + ridge I, in place of S; None where there is none."""
    S *= 1 - rho
    S.flat[:: len(S) + 1] += ridge
    L, failed = dpotrf(S.T, lower=True, overwrite_a=True, clean=False)  # transposed it lies as LAPACK wants it
    return None if failed else np.asarray(L)


def _solve(L: Matrix, B: Matrix, *, transposed: bool = False) -> Matrix:
    """Return L^{-1} B, or L^{-T} B, of which L is the lower triangle alone."""
    return np.asarray(dtrtrs(L, B, lower=True, trans=transposed)[0])
