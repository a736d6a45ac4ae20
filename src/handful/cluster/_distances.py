"""Squared distances from words to prototypes in the projected space, and the tags that they speak for."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows, row_blocks, thin_product
from handful._util.passes import ByBlock, map_rows

from .labels import Labels


def squared_distances(
    X: Float, C: NDArray[np.float64], U: NDArray[np.float64] | None, origin: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute D[i, j] = ||U^T (x_i - c_j)||^2 (n, k) for X (n, d), C (k, d) and U (d, p), with U = I where U is None.

    Distances do not depend on `origin` (d,); taking everything relative to a point inside the data keeps the digits
    that single precision has. D is float64, in Fortran order: the distances to one prototype lie side by side.
    """
    n, k = len(X), len(C)
    Q = C - origin if U is None else (C - origin) @ U  # (k, p)
    D = np.empty((k, n))
    for where, block in row_blocks(X):
        P = project(block, U, origin)  # (b, p)
        cross = (-2 * Q).astype(P.dtype) @ P.T  # (k, b)
        D[:, where] = cross
        D[:, where] += np.einsum("ij,ij->i", P, P)
    D += (Q**2).sum(axis=1)[:, None]
    np.maximum(D, 0, out=D)  # rounding
    return D.T


class Distances:
    """D (n, k), computed block by block when it is asked for: ||U^T (x_i - c_j)||^2 - ||U^T (x_i - origin)||^2.

    U = I where U is None. The second term is the same for all prototypes, so it changes no assignment. The rest is
    linear in x_i: with q_j = U^T (c_j - origin), D[i, j] = -2 (x_i - origin)^T U q_j + ||q_j||^2, one thin product.
    D[i, j] is infinite where the labels do not allow word i the tag of prototype j, `prototype_tags[j]`.
    """

    def __init__(
        self,
        X: Float | Rows,
        C: NDArray[np.float64],
        U: NDArray[np.float64] | None,
        origin: NDArray[np.float64],
        prototype_tags: NDArray[np.intp],
        labels: Labels | None = None,
    ) -> None:
        Q = C - origin if U is None else (C - origin) @ U  # (k, p)
        self._W = -2 * (Q.T if U is None else U @ Q.T)  # (d, k)
        self._b = (Q**2).sum(axis=1) - origin @ self._W
        self._X, self._tags, self._labels = X, prototype_tags, labels

    def __len__(self) -> int:
        return len(self._X)

    def map(self, function: Callable[[slice, NDArray[np.float64]], Any]) -> ByBlock[Any]:
        """Call a function with where each block lies and its D (b, k), which is in Fortran order."""
        W, b, tags = self._W, self._b, self._tags  # X itself is not sent to workers

        def of_block(where: slice, block: Float, labels: Labels | None) -> Any:
            D = np.empty((len(b), len(block)))
            np.add(thin_product(block, W.astype(block.dtype)).T, b[:, None], out=D)
            if labels is not None:
                labels.forbid(D.T, tags)
            return function(where, D.T)

        return map_rows(of_block, self._X, self._labels)


def project(block: Float, U: NDArray[np.float64] | None, origin: NDArray[np.float64]) -> Float:
    """Compute U^T (x - origin) for each row, (b, p), in the rows' precision."""
    if U is None:
        return np.asarray(block - origin.astype(block.dtype))
    return np.asarray(block @ U.astype(block.dtype) - (origin @ U).astype(block.dtype))


def nearest(
    D: NDArray[np.float64], columns: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the column of each row's smallest entry, of all or of some columns in order, and that entry.

    Ties go to the lowest column.
    """
    columns = np.arange(D.shape[1]) if columns is None else columns
    best = D[:, columns[0]].copy()
    for j in columns[1:]:
        np.minimum(best, D[:, j], out=best)
    number = np.zeros(len(D), np.min_scalar_type(len(columns)))
    is_later = np.ones(len(D), dtype=bool)
    for j in columns[:-1]:  # the number of columns before the first that is the best
        is_later &= D[:, j] != best
        number += is_later
    return columns[number], best


def tag_distances(
    X: Float,
    prototypes: NDArray[np.float64],
    prototype_tags: NDArray[np.intp],
    projection: NDArray[np.float64] | None,
    n_tags: int,
) -> NDArray[np.float64]:
    """Return the squared distance of each word to the nearest prototype of each tag, in the projected space.

    X is (n, d), the prototypes (k, d), and their tags (k,) are from 0 to n_tags - 1, each at least once. The projection
    is (d, p), or None for the identity; the result is (n, n_tags).
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
