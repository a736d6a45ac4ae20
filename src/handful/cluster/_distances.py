"""Squared distances from words to prototypes in the projected space, and the tags that they speak for."""

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, row_blocks, thin_product

from ._labels import Labels
from .assigning import nearest

__all__ = ["RelativeDistances", "project", "squared_distances", "tag_distances", "tag_scores"]


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
    D : (n, k) float64, in Fortran order: the distances to one prototype lie side by side.
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


class RelativeDistances:
    """D[i, j] = ||U^T (x_i - c_j)||^2 - ||U^T (x_i - origin)||^2 of blocks of rows, with U = I where U is None.

    What is taken off is the same for all prototypes, so it changes no assignment. What is left is linear in x_i: with
    q_j = U^T (c_j - origin), it is -2 (x_i - origin)^T U q_j + ||q_j||^2, one thin product.

    Parameters
    ----------
    C, U, origin : as for :func:`squared_distances`
    prototype_tags : (k,) the tag of each prototype
    """

    def __init__(
        self,
        C: NDArray[np.float64],
        U: NDArray[np.float64] | None,
        origin: NDArray[np.float64],
        prototype_tags: NDArray[np.intp] | None = None,
    ) -> None:
        Q = C - origin if U is None else (C - origin) @ U  # (k, p)
        self._W = -2 * (Q.T if U is None else U @ Q.T)  # (d, k)
        self._b = (Q**2).sum(axis=1) - origin @ self._W
        self._tags = prototype_tags

    def __call__(self, block: Float, labels: Labels | None = None) -> NDArray[np.float64]:
        """Return D (b, k), in Fortran order, of a block of rows; infinite where their labels forbid the prototype."""
        D = np.empty((len(self._b), len(block)))
        np.add(thin_product(block, self._W.astype(block.dtype)).T, self._b[:, None], out=D)
        if labels is not None and self._tags is not None:
            labels.forbid(D.T, self._tags)
        return D.T


def project(block: Float, U: NDArray[np.float64] | None, origin: NDArray[np.float64]) -> Float:
    """Compute U^T (x - origin) for each row, (b, p), in the rows' precision."""
    if U is None:
        return np.asarray(block - origin.astype(block.dtype))
    return np.asarray(block @ U.astype(block.dtype) - (origin @ U).astype(block.dtype))


def tag_distances(
    X: Float,
    prototypes: NDArray[np.float64],
    prototype_tags: NDArray[np.intp],
    projection: NDArray[np.float64] | None,
    n_tags: int,
) -> NDArray[np.float64]:
    """Return the squared distance of each word to the nearest prototype of each tag, in the projected space.

    Parameters
    ----------
    X : (n, d)
    prototypes : (k, d)
    prototype_tags : (k,) tags from 0 to n_tags - 1, each at least once
    projection : (d, p), or None for the identity

    Returns
    -------
    (n, n_tags)
    """
    D = squared_distances(X, prototypes, projection, origin=prototypes.mean(axis=0))
    return np.stack([nearest(D[:, prototype_tags == t])[1] for t in range(n_tags)], axis=1)


def tag_scores(distances: NDArray[np.float64], temperature: float = 1.0) -> NDArray[np.float64]:
    """Return the softmax over tags of -distance / temperature: the nearest tag has the highest score."""
    logits = distances / -temperature
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return np.asarray(logits)
