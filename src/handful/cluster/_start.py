"""The deterministic start: prototypes from the labelled words."""

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows

from .labels import Weights

MAX_WARD = 5000  # Ward is quadratic: of more words than this, evenly spaced ones are taken


def initial_prototypes(
    X: Float | Rows,
    labelled: list[NDArray[np.intp]],
    n_prototypes: list[int],
    weights: Weights | NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Place each tag's prototypes at the means of the Ward clusters of its labelled words.

    `labelled` has the rows of each tag, at least one, of which some weigh more than 0. `n_prototypes` says how many
    prototypes each tag gets; a tag with fewer distinct rows gets as many as those. Return C (k, d), tag by tag, and the
    tag of each prototype (k,).
    """
    by_tag = [
        _means_of_clusters(X, rows, m, None if weights is None else weights[rows])
        for rows, m in zip(labelled, n_prototypes, strict=True)
    ]
    return np.concatenate(by_tag), np.repeat(np.arange(len(by_tag)), [len(means) for means in by_tag])


def _means_of_clusters(
    X: Float | Rows, rows: NDArray[np.intp], m: int, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    weights = np.ones(len(rows)) if weights is None else weights / weights.max()  # of equal ones, each becomes 1
    if m == 1:
        total = np.zeros(X.shape[1])
        for start in range(0, len(rows), MAX_WARD):
            some = slice(start, start + MAX_WARD)
            total += weights[some] @ X[rows[some]]
        return np.asarray(total[None] / weights.sum())
    rows, weights = rows[weights > 0], weights[weights > 0]
    if len(rows) > MAX_WARD:
        ends = np.cumsum(weights)
        taken = np.searchsorted(ends, np.arange(MAX_WARD) * ends[-1] / MAX_WARD, side="right")
        rows, counts = np.unique(rows[taken], return_counts=True)
        weights = counts.astype(np.float64)
    Y = np.asarray(X[rows], np.float32 if X.dtype == np.float16 else None)
    if len(np.unique(Y[:, 0])) < m:  # rows that differ in one number differ; to compare whole rows takes long
        m = min(m, len(np.unique(Y, axis=0)))
    clusters = ward(Y, m, weights)
    return np.stack([np.average(Y[clusters == j], axis=0, weights=weights[clusters == j]) for j in range(m)])


def ward(Y: Float, m: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.intp]:
    """Cut the Ward tree of the rows of Y (n, d) into m clusters, numbered by their first row: (n,).

    Ward joins the two clusters whose union raises the squared distances to the mean least,
    by w_a w_b / (w_a + w_b) ||mean_a - mean_b||^2, with w_a the weight of all rows of a: a row of weight 2 counts as
    two. SciPy's and scikit-learn's know no weights.
    """
    n = len(Y)
    heights, first, second = _joins(Y, np.ones(n) if weights is None else weights)
    lowest = np.argsort(heights, kind="stable")[: n - m]
    root = np.arange(n)
    root[second[lowest]] = first[lowest]
    for i in range(n):  # a cluster is known by its first row, so roots of earlier rows are known
        root[i] = root[root[i]]
    return np.unique(root, return_inverse=True)[1]


def _joins(Y: Float, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the n - 1 joins of the Ward tree: heights, and the first rows of both clusters, the lower one first.

    The nearest-neighbour chain finds clusters that are each other's nearest; Lance and Williams' formula gives the
    distances to their union.
    """
    n = len(Y)
    D, w = _costs(Y, weights), weights.copy()
    heights, first, second = np.empty(n - 1), np.empty(n - 1, np.intp), np.empty(n - 1, np.intp)
    is_left = np.ones(n, dtype=bool)
    chain: list[int] = []
    for step in range(n - 1):
        if not chain:
            chain.append(int(is_left.argmax()))
        while True:
            row = D[chain[-1]]
            nearest = int(row.argmin())
            if len(chain) > 1 and row[chain[-2]] <= row[nearest]:
                break
            chain.append(nearest)
        b, a = sorted((chain.pop(), chain.pop()), reverse=True)
        height = D[a, b]
        row = ((w[a] + w) * D[a] + (w[b] + w) * D[b] - w * height) / (w[a] + w[b] + w)
        D[a] = D[:, a] = np.maximum(row, 0)  # infinite where D is: to itself, and to clusters that are gone
        D[b] = D[:, b] = np.inf
        w[a] += w[b]
        is_left[b] = False
        heights[step], first[step], second[step] = height, a, b
    return heights, first, second


def _costs(Y: Float, weights: NDArray[np.float64]) -> Float:
    """Return (n, n) what joining two rows costs, w_i w_j / (w_i + w_j) ||y_i - y_j||^2; infinite on the diagonal.

    It is in proportion only: rows are divided by their largest number, so that no square overflows.
    """
    n = len(Y)
    Y = Y / (np.abs(Y).max() or 1)
    Y -= Y.mean(axis=0)
    squares = np.einsum("ij,ij->i", Y, Y)
    D = np.empty((n, n), Y.dtype)
    for start in range(0, n, 256):
        some = slice(start, min(start + 256, n))
        costs = squares[some, None] + squares[start:] - 2 * (Y[some] @ Y[start:].T)
        pairs = weights[some, None] * weights[start:] / (weights[some, None] + weights[start:])
        D[some, start:] = np.maximum(costs * pairs, 0)
        D[some, some] = np.minimum(D[some, some], D[some, some].T)  # the chain ends only if D is symmetric to the bit
        D[start:, some] = D[some, start:].T
    np.fill_diagonal(D, np.inf)
    return D
