"""The prototypes, C: means of the words assigned to them."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows, thin_sums
from handful._util.passes import ByBlock, reduce_rows

from ._assign import entropy
from .labels import Weights

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

TOLERANCE = 1e-6  # an entry of a soft A that changed by no more is taken to be the same
FEW = 1024  # rows that are gathered at a time
REFRESH = 16  # rounds after which running sums are recomputed, so that no rounding builds up


def means(S: Matrix, counts: Vector, C: Matrix) -> Matrix:
    """Compute C[j] = S[j] / counts[j]; a prototype with no mass keeps its place in C (k, d)."""
    mass = counts[:, None]
    return np.where(mass > 0, S / np.where(mass > 0, mass, 1), C)


class Sums(NamedTuple):
    """The sums over an assignment that a round needs; the sums of two sets of rows add up."""

    S: Matrix  # (k, d) the rows of each prototype
    counts: Vector  # (k,) the weight of each prototype
    mass: float  # the weight of all words
    o_mass: float  # the words on O prototypes, each counting once
    entropy: float  # 0 when hard
    n_changed: int  # words that moved
    change: float  # the largest change of an entry of A

    def plus(self, other: "Sums") -> "Sums":
        sums: list[Any] = [a + b for a, b in zip(self, other, strict=True)]  # type: ignore[operator]
        return Sums(*sums)._replace(change=max(self.change, other.change))


class SoftSums:
    """The sums of the rows of X (n, d) under soft assignments, each compared with the one before.

    `is_o` (k,) says whether a prototype's tag is O.
    """

    def __init__(self, X: Float | Rows, is_o: NDArray[np.bool_], weights: Weights | None = None) -> None:
        self._X, self._is_o, self._weights = X, is_o, weights
        self._before: ByBlock[NDArray[Any]] | None = None

    def update(self, A: ByBlock[NDArray[Any]]) -> Sums:
        """Return the sums under the weights A (n, k)."""
        before, self._before = self._before, A
        return reduce_rows(partial(_soft_sums, self._is_o), Sums.plus, self._X, A, before, self._weights)


def _soft_sums(
    is_o: NDArray[np.bool_], _: slice, block: Float, A: Matrix, before: Matrix | None, weights: Vector | None
) -> Sums:
    W = A if weights is None else A * weights[:, None]
    largest = np.full(len(A), float(before is None))
    if before is not None:
        for j in range(A.shape[1]):
            np.maximum(largest, np.abs(A[:, j] - before[:, j]), out=largest)
    return Sums(
        thin_sums(block, np.ascontiguousarray(W, block.dtype)),
        W.sum(axis=0),
        float(len(A) if weights is None else weights.sum()),
        float(A[:, is_o].sum()),
        entropy(A, weights),
        int(np.count_nonzero(largest > TOLERANCE)),
        float(largest.max()),
    )


class HardSums(SoftSums):
    """The same under hard assignments; only rows that moved since the last one are touched."""

    _S: Matrix
    _age = 0

    def update(self, A: ByBlock[NDArray[Any]]) -> Sums:
        """Return the sums for words (n,) at these prototypes."""
        (before, self._before), k = (self._before, A), len(self._is_o)
        found = reduce_rows(partial(_count, self._is_o), Sums.plus, A, before, self._weights)
        self._age += 1
        if before is None or found.n_changed > len(A) // 3 or self._age % REFRESH == 0:
            self._S = reduce_rows(partial(_sums, k), np.add, self._X, A, self._weights)
        elif found.n_changed:
            self._S = self._S + reduce_rows(partial(_moved, k), np.add, self._X, before, A, self._weights, is_raw=True)
        return found._replace(S=self._S)


def _count(
    is_o: NDArray[np.bool_], _: slice, after: NDArray[Any], before: NDArray[Any] | None, weights: Vector | None
) -> Sums:
    """Return all sums of a block but S, for which the rows themselves are needed."""
    n_moved = len(after) if before is None else int(np.count_nonzero(after != before))
    numbers = np.bincount(after, minlength=len(is_o))
    counts = (numbers if weights is None else np.bincount(after, weights, minlength=len(is_o))).astype(np.float64)
    return Sums(np.empty(0), counts, float(counts.sum()), float(numbers[is_o].sum()), 0.0, n_moved, float(n_moved > 0))


def _sums(k: int, _: slice, block: Float, labels: NDArray[np.integer], weights: Vector | None) -> Matrix:
    """Return S[j] = sum over {i: labels[i] = j} of w_i x_i, (k, d)."""
    one_hot = np.zeros((len(block), k), block.dtype)
    one_hot[np.arange(len(block)), labels] = 1 if weights is None else weights
    return thin_sums(block, one_hot)


def _moved(k: int, _: slice, block: Float, before: NDArray[Any], after: NDArray[Any], weights: Vector | None) -> Matrix:
    """Return what the rows that moved, `FEW` at a time, bring to their prototypes and take from those before."""
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
