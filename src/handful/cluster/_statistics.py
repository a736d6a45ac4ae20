"""Additive statistics of the rows of X, block by block.

Every result is a sum over blocks of rows: two machines that hold half of the rows each can add their parts. The one
other pass over the data, in `handful.cluster._distances`, treats each row by itself. Products are taken in the data's
precision, sums of blocks in float64.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, row_blocks
from handful.errors import DataError

__all__ = ["Moments", "check_finite", "sums_by_label", "weighted_sums"]


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
        cross = np.outer(shift, shift) if self.scatter.ndim == 2 else shift**2
        mean = self.mean + shift * (other.n / n)
        return Moments(n, mean, self.scatter + other.scatter + weight * cross)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """S_t, the scatter by word: (d, d), or its diagonal."""
        return self.scatter / self.n

    @property
    def total_variance(self) -> float:
        """The trace of S_t."""
        S = self.covariance
        return float(np.trace(S) if S.ndim == 2 else S.sum())

    @classmethod
    def of(cls, X: Float, weights: NDArray[np.float64] | None = None, *, whole: bool = True) -> "Moments":
        """Take the moments of X (n, d) in one pass; `whole=False` keeps the scatter's diagonal alone.

        `weights` (n,) are at least 0, and not all of them 0.

        Raises
        ------
        DataError
            Where X has a value that is not finite: the first such row and column are named.
        """
        moments = None
        for part, block in row_blocks(X):
            sums = _column_sums(block, part.start)
            n: float = len(block)
            if weights is not None:
                n = float(weights[part].sum())
                sums = weights[part].astype(block.dtype) @ block
            mean = sums.astype(np.float64) / n if n else np.zeros(block.shape[1])
            centred = block - mean.astype(block.dtype)
            if weights is not None:
                centred *= np.sqrt(weights[part]).astype(block.dtype)[:, None]
            scatter = centred.T @ centred if whole else np.einsum("ij,ij->j", centred, centred)
            here = cls(n, mean, scatter.astype(np.float64))
            moments = here if moments is None else moments + here
        assert moments is not None, "X has at least one row: checked by the caller"
        return moments


def check_finite(X: Float) -> None:
    """Raise a DataError that names the first value of X that is not finite."""
    for part, block in row_blocks(X):
        _column_sums(block, part.start)


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


def sums_by_label(
    X: Float, labels: NDArray[np.intp], k: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Sum the rows of X (n, d) that share a label: S[j] = sum over {i: labels[i] = j} of w_i x_i, shape (k, d)."""
    S = np.zeros((k, X.shape[1]))
    for part, block in row_blocks(X):
        one_hot = np.zeros((k, len(block)), block.dtype)
        one_hot[labels[part], np.arange(len(block))] = 1 if weights is None else weights[part]
        S += one_hot @ block
    return S


def weighted_sums(X: Float, A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the rows of X (n, d) under the weights A (n, k): A^T X, shape (k, d)."""
    S = np.zeros((A.shape[1], X.shape[1]))
    for part, block in row_blocks(X):
        S += A[part].T.astype(block.dtype) @ block
    return S
