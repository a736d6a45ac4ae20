"""The prototypes, C: means of the words assigned to them."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows, thin_sums
from handful._util.passes import Kept, reduce_rows

from ._statistics import sums_by_label
from .assigning import entropy
from .weights import Weights

__all__ = ["RunningSums", "SoftSums", "means", "soft_sums"]

FEW = 1024  # rows that are gathered at a time
REFRESH = 16  # rounds after which running sums are recomputed, so that no rounding builds up


def means(S: NDArray[np.float64], counts: NDArray[np.float64], C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute C[j] = S[j] / counts[j]; a prototype with no mass keeps its place in C (k, d)."""
    mass = counts[:, None]
    return np.where(mass > 0, S / np.where(mass > 0, mass, 1), C)


class SoftSums(NamedTuple):
    """What a round needs to know of a soft assignment; the sums of two sets of rows add up.

    Attributes
    ----------
    S : (k, d) the rows, spread over prototypes
    counts : (k,) the weight of each prototype
    mass, o_mass : the weight of all words; the words on O prototypes, each counting once
    entropy : see :func:`entropy`
    n_changed, change : words that moved by more than the tolerance, and the largest move
    """

    S: NDArray[np.float64]
    counts: NDArray[np.float64]
    mass: float
    o_mass: float
    entropy: float
    n_changed: int
    change: float

    def plus(self, other: "SoftSums") -> "SoftSums":
        """Return the sums of both."""
        sums: list[Any] = [a + b for a, b in zip(self, other, strict=True)]  # type: ignore[operator]
        return SoftSums(*sums)._replace(change=max(self.change, other.change))


def soft_sums(
    X: Float | Rows,
    A: Kept[NDArray[np.float64]],
    previous: Kept[NDArray[np.float64]] | None,
    weights: Weights | None,
    is_o: NDArray[np.bool_],
    tolerance: float,
) -> SoftSums:
    """Sum the rows of X (n, d) under the weights A (n, k), and compare A with the assignment before."""

    def of_block(
        _: slice,
        block: Float,
        A: NDArray[np.float64],
        previous: NDArray[np.float64] | None,
        weights: NDArray[np.float64] | None,
    ) -> SoftSums:
        W = A if weights is None else A * weights[:, None]
        largest = np.full(len(A), float(previous is None))
        if previous is not None:
            for j in range(A.shape[1]):
                np.maximum(largest, np.abs(A[:, j] - previous[:, j]), out=largest)
        return SoftSums(
            thin_sums(block, np.ascontiguousarray(W, block.dtype)),
            W.sum(axis=0),
            float(len(A) if weights is None else weights.sum()),
            float(A[:, is_o].sum()),
            entropy(A, weights),
            int(np.count_nonzero(largest > tolerance)),
            float(largest.max()),
        )

    return reduce_rows(of_block, SoftSums.plus, X, A, previous, weights)


class RunningSums:
    """The sum of the rows assigned to each prototype, touching only the words whose assignment changed.

    Parameters
    ----------
    X : (n, d)
    k : the number of prototypes
    weights : of the words, or None for 1 each
    """

    def __init__(self, X: Float | Rows, k: int, weights: Weights | None = None) -> None:
        self._X = X
        self._k = k
        self._weights = weights
        self._labels: Kept[NDArray[Any]] | None = None
        self._sums = np.zeros((k, X.shape[1]))
        self._age = 0

    def update(
        self, labels: Kept[NDArray[Any]], is_o: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int, int]:
        """Take new labels; return the sums (k, d), the mass (k,), how many words are O, and how many moved.

        Words that moved are gathered by block, `FEW` at a time.
        """
        before, k = self._labels, self._k

        def count(
            _: slice, after: NDArray[Any], before: NDArray[Any] | None, weights: NDArray[np.float64] | None
        ) -> tuple[NDArray[np.float64], NDArray[np.intp], int]:
            n_moved = len(after) if before is None else int(np.count_nonzero(after != before))
            numbers = np.bincount(after, minlength=k)
            counts = numbers if weights is None else np.bincount(after, weights, minlength=k)
            return counts.astype(np.float64), numbers, n_moved

        counts, numbers, n_moved = reduce_rows(
            count, lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), labels, before, self._weights
        )
        n, n_o = int(numbers.sum()), int(numbers[is_o].sum())
        self._age += 1
        if before is None or n_moved > n // 3 or self._age % REFRESH == 0:
            self._sums = sums_by_label(self._X, labels, k, self._weights)
        elif n_moved:
            self._sums = self._sums + reduce_rows(
                partial(_change, k), np.add, self._X, before, labels, self._weights, is_raw=True
            )
        self._labels = labels
        return self._sums, counts, n_o, n_moved


def _change(
    k: int,
    _: slice,
    block: Float,
    before: NDArray[Any],
    after: NDArray[Any],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return what the rows of a block that moved bring to the prototypes they are at now and take from those before."""
    moved = np.flatnonzero(after != before)
    change = np.zeros((k, block.shape[1]))
    for start in range(0, len(moved), FEW):
        rows = moved[start : start + FEW]
        X, each = block.take(rows, axis=0), np.arange(len(rows))
        X = X.astype(np.float32) if X.dtype == np.float16 else X
        sign = np.zeros((len(rows), k), X.dtype)
        sign[each, after[rows]] = 1 if weights is None else weights[rows]
        sign[each, before[rows]] = -sign[each, after[rows]]
        change += thin_sums(X, sign)
    return change
