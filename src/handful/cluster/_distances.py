"""Squared distances from words to prototypes in the projected space."""

import numpy as np
from numpy.typing import NDArray

from ._statistics import Float, row_blocks

__all__ = ["project", "squared_distances"]


def squared_distances(
    X: Float, C: NDArray[np.float64], U: NDArray[np.float64] | None, origin: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute D[i, j] = ||U^T (x_i - c_j)||^2, with U = I where U is None.

    Distances do not depend on `origin` (d,); taking everything relative to a point inside the data keeps the digits
    that single precision has.

    Parameters
    ----------
    X : (n, d)
    C : (k, d)
    U : (d, p) or None
    origin : (d,)

    Returns
    -------
    D : (n, k) float64, in Fortran order: each prototype's distances lie side by side.
    """
    n, k = len(X), len(C)
    Q = C - origin if U is None else (C - origin) @ U  # (k, p)
    D = np.empty((k, n))
    for part, block in row_blocks(X):
        P = project(block, U, origin)  # (b, p)
        cross = (-2 * Q).astype(P.dtype) @ P.T  # (k, b)
        D[:, part] = cross
        D[:, part] += np.einsum("ij,ij->i", P, P)
    D += (Q**2).sum(axis=1)[:, None]
    np.maximum(D, 0, out=D)  # rounding
    return D.T


def project(block: Float, U: NDArray[np.float64] | None, origin: NDArray[np.float64]) -> Float:
    """Compute U^T (x - origin) for each row, (b, p), in the rows' precision."""
    if U is None:
        return np.asarray(block - origin.astype(block.dtype))
    return np.asarray(block @ U.astype(block.dtype) - (origin @ U).astype(block.dtype))
