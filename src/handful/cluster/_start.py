"""The deterministic start: prototypes from the labelled words, or from elsewhere where there are none."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from handful._util.arrays import Float

__all__ = ["initial_prototypes", "ward"]

MAX_WARD = 5000  # Ward is quadratic: of more words than this, evenly spaced ones are taken


def initial_prototypes(
    X: Float,
    labelled: list[NDArray[np.intp]],
    n_prototypes: list[int],
    given: Mapping[int, NDArray[np.float64]] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Place each tag's prototypes at the means of the Ward clusters of its labelled words.

    Parameters
    ----------
    X : (n, d)
    labelled : for each tag, the rows labelled with it (at least one, unless it is among those given)
    n_prototypes : for each tag, how many prototypes it gets; a tag with fewer distinct rows gets as many as those
    given : (m, d) prototypes of tags that start elsewhere than from labelled words

    Returns
    -------
    C : (k, d) prototypes, tag by tag
    tags : (k,) the tag of each
    """
    given = given or {}
    parts = [
        given[t] if t in given else _means_of_clusters(X, rows, m)
        for t, (rows, m) in enumerate(zip(labelled, n_prototypes, strict=True))
    ]
    tags = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.concatenate(parts), tags


def _means_of_clusters(X: Float, rows: NDArray[np.intp], m: int) -> NDArray[np.float64]:
    if m == 1:
        total = np.zeros(X.shape[1])
        for start in range(0, len(rows), MAX_WARD):
            total += X[rows[start : start + MAX_WARD]].sum(axis=0, dtype=np.float64)
        return np.asarray(total[None] / len(rows))
    if len(rows) > MAX_WARD:
        rows = rows[np.arange(MAX_WARD) * len(rows) // MAX_WARD]
    Y = X[rows].astype(np.float64)
    m = min(m, len(np.unique(Y, axis=0)))
    clusters = ward(Y, m)
    return np.stack([Y[clusters == j].mean(axis=0) for j in range(m)])


def ward(Y: NDArray[np.float64], m: int) -> NDArray[np.intp]:
    """Cut the Ward tree of the rows of Y (n, d) into m clusters, numbered by their first row: (n,)."""
    n = len(Y)
    parent = np.arange(n)
    if m < n:
        merges = linkage(_pairwise(Y), "ward")
        member = list(range(n))  # any row of each tree node
        for a, b in merges[: n - m, :2].astype(int):
            first, second = sorted((_root(parent, member[a]), _root(parent, member[b])))
            parent[second] = first
            member.append(first)
    roots = np.array([_root(parent, i) for i in range(n)])
    return np.unique(roots, return_inverse=True)[1]


def _root(parent: NDArray[np.intp], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = int(parent[i])
    return i


def _pairwise(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances between rows in SciPy's condensed form, by matrix products, without the (n, n) square."""
    n = len(Y)
    Y = Y - Y.mean(axis=0)
    squares = np.einsum("ij,ij->i", Y, Y)
    condensed = np.empty(n * (n - 1) // 2)
    at = 0
    for start in range(0, n, 256):
        stop = min(start + 256, n)
        block = squares[start:stop, None] + squares[start:] - 2 * (Y[start:stop] @ Y[start:].T)
        for i in range(stop - start):
            row = block[i, i + 1 :]
            condensed[at : at + len(row)] = row
            at += len(row)
    return np.sqrt(np.maximum(condensed, 0, out=condensed), out=condensed)
