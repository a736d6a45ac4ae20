"""The moments of the rows of X: a sum over blocks of rows.

Two machines that hold half of the rows each can add their results. Products are taken in the data's precision, sums of
blocks in float64. This is the one pass over the data that a fit makes once; in each round the distances (`_distances`)
and the sums by prototype (`_prototypes`) make one each, and selections (`_select`) look at one number per word.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Rows, row_blocks
from handful._util.passes import reduce_rows
from handful.errors import DataError

from .labels import Weights


@dataclass(frozen=True)
class Moments:
    """Number, mean and scatter of rows; those of two disjoint sets of rows add up to those of their union.

    ``scatter`` is the sum over rows of ``(x - mean)(x - mean)^T``, shape (d, d), or its diagonal alone, shape (d,).
    Rows may have weights: then ``n`` is their sum, and a row of weight 2 counts as two.
    """

    n: float
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]

    def __add__(self, other: "Moments") -> "Moments":
        n = self.n + other.n
        if n == 0:
            return self
        shift = other.mean - self.mean
        weight = self.n * other.n / n
        scatter = np.outer(weight * shift, shift) if self.scatter.ndim == 2 else weight * shift**2
        scatter += self.scatter
        scatter += other.scatter
        return Moments(n, self.mean + shift * (other.n / n), scatter)

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """S_t, the scatter by word: (d, d), or its diagonal."""
        return self.scatter / self.n

    @cached_property
    def total_variance(self) -> float:
        """The trace of S_t."""
        S = self.covariance
        return float(np.trace(S) if S.ndim == 2 else S.sum())

    @classmethod
    def of(cls, X: Float | Rows, weights: Weights | None = None, *, whole: bool = True) -> "Moments":
        """Take the moments of X (n, d) in one pass; `whole=False` keeps the scatter's diagonal alone.

        Weights are at least 0, and not all of them 0. A value that is not finite is an error that names its place.
        """

        def of_block(where: slice, block: Float, weights: NDArray[np.float64] | None) -> Moments:
            sums = _column_sums(block, where.start)
            n: float = len(block)
            if weights is not None:
                n = float(weights.sum())
                sums = weights.astype(block.dtype) @ block
            mean = sums.astype(np.float64) / n if n else np.zeros(block.shape[1])
            centred = block - mean.astype(block.dtype)
            if weights is not None:
                centred *= np.sqrt(weights).astype(block.dtype)[:, None]
            scatter = centred.T @ centred if whole else np.einsum("ij,ij->j", centred, centred)
            return cls(n, mean, scatter.astype(np.float64))

        return reduce_rows(of_block, cls.__add__, X, weights)


def weighted_moments(X: Rows, weights: Weights | None, *, whole: bool = True) -> Moments:
    """Take the moments of X under weights, such that most of the work is there already in the next fit.

    The moments of the longest part of X without weights are kept with the part. All other rows are added, and rows of
    the part once more with their weight above 1. Where those are more than a quarter of all, or a row of the part
    weighs less than 1, all rows are taken with their weights.
    """
    sizes = [len(part.array) for part in X.parts]
    longest = int(np.argmax(sizes))
    start, stop = sum(sizes[:longest]), sum(sizes[: longest + 1])
    inside = np.empty(0, np.intp) if weights is None else weights.within(slice(start, stop)).rows
    rows = np.concatenate([np.arange(start), inside, np.arange(stop, len(X))])
    more = np.ones(len(rows)) if weights is None else weights[rows]  # what comes on top of the part
    more[start : start + len(inside)] -= 1
    rows, more = rows[more != 0], more[more != 0]
    if len(rows) > len(X) // 4 or more.min(initial=0) < 0:
        moments = Moments.of(X, weights, whole=whole)
    else:
        part = X.parts[longest]
        moments = part.once("moments", whole, lambda: Moments.of(Rows([part]), whole=whole))
        if len(rows):
            moments += Moments.of(X[rows], Weights.of(more), whole=whole)
    if not np.isfinite(moments.total_variance):
        raise DataError(
            "the features are so large that their variance is not a finite number; divide them by something"
        )
    return moments


def check_finite(X: Float | Rows) -> None:
    """Raise a DataError that names the first value of X that is not finite."""
    for where, block in row_blocks(X):
        _column_sums(block, where.start)


def _column_sums(block: Float, first_row: int) -> Float:
    """Sum the rows of a block; a sum that is not finite gives away a value that is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.ones(len(block), block.dtype) @ block
    if np.isfinite(sums).all():
        return sums
    rows, columns = np.nonzero(~np.isfinite(block))
    if len(rows) == 0:
        return np.asarray(block.sum(axis=0, dtype=np.float64))  # finite values whose sum overflowed
    value = block[rows[0], columns[0]]
    raise DataError(
        f"Input X contains {'NaN' if np.isnan(value) else 'infinity'} at row {first_row + rows[0]}, column"
        f" {columns[0]} ({len(np.unique(rows))} such rows among rows {first_row} to {first_row + len(block) - 1});"
        " every feature must be finite: remove those words or repair their features"
    )
