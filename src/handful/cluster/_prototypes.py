"""The prototypes, C: means of the words assigned to them."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows
from handful._util.parallel import in_threads

from ._statistics import sums_by_label

__all__ = ["RunningSums", "means"]

FEW = 1024  # rows that are gathered at a time
REFRESH = 16  # rounds after which running sums are recomputed, so that no rounding builds up


def means(S: NDArray[np.float64], counts: NDArray[np.float64], C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute C[j] = S[j] / counts[j]; a prototype with no mass keeps its place in C (k, d)."""
    mass = counts[:, None]
    return np.where(mass > 0, S / np.where(mass > 0, mass, 1), C)


class RunningSums:
    """The sum of the rows assigned to each prototype, touching only the words whose assignment changed.

    Parameters
    ----------
    X : (n, d)
    k : the number of prototypes
    weights : (n,) of the words, or None for 1 each
    """

    def __init__(self, X: Float | Rows, k: int, weights: NDArray[np.float64] | None = None) -> None:
        self._X = X
        self._k = k
        self._weights = weights
        self._labels: NDArray[np.intp] | None = None
        self._sums = np.zeros((k, X.shape[1]))
        self._age = 0

    def update(self, labels: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        """Take the new labels (n,); return the sums (k, d), the mass (k,) and the number of words that moved."""
        moved = np.arange(len(labels)) if self._labels is None else np.flatnonzero(labels != self._labels)
        self._age += 1
        if self._labels is None or len(moved) > len(labels) // 3 or self._age % REFRESH == 0:
            self._sums = sums_by_label(self._X, labels, self._k, self._weights)
        else:
            few = (moved[start : start + FEW] for start in range(0, len(moved), FEW))
            for change in in_threads(partial(self._change, self._labels, labels), few):
                self._sums += change
        self._labels = labels
        counts = np.bincount(labels, self._weights, minlength=self._k).astype(np.float64)
        return self._sums, counts, len(moved)

    def _change(self, before: NDArray[np.intp], after: NDArray[np.intp], rows: NDArray[np.intp]) -> Float:
        """Return what some rows, which moved, bring to the prototypes they are at now and take from those before."""
        X, each = self._X[rows], np.arange(len(rows))
        sign = np.zeros((self._k, len(rows)), np.float32 if X.dtype == np.float16 else X.dtype)
        sign[after[rows], each] = 1 if self._weights is None else self._weights[rows]
        sign[before[rows], each] = -sign[after[rows], each]
        return np.asarray(sign @ X)
