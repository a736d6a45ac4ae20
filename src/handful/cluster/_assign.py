"""The assignment of words to prototypes, A: hard and soft, with and without the ratio.

Both solve, for fixed prototypes and projection,

    min_A  <A, D>  (+ t <A, log A> when soft)
    s.t.   A >= 0,  A 1 = 1,  A[i, j] = 0 where D[i, j] = inf,  and, with a ratio,
           sum_i sum_{j in O} A[i, j] = o_ratio * n   (hard: rounded to an integer).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful._util.passes import ByBlock, reduce_rows

from ._distances import Distances, nearest
from ._select import mth_smallest, smallest

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]


def hard(D: Distances | ByBlock[Matrix], is_o: Mask, n_o: float | None = None) -> ByBlock[Any]:
    """Assign each word to one prototype; return the prototypes of words by block, (b,).

    Without `n_o`, to the nearest. With it, exactly `n_o` words, a feasible whole number (:func:`wanted_o`), go to O
    prototypes (`is_o`, (k,)): those with the smallest d_O - d_E, where d_O (d_E) is the distance to the nearest O
    (entity) prototype; ties to the lowest word. It is a selection in O(n), and the exact minimum: only the side, O or
    not, is coupled over words.
    """
    kind = np.min_scalar_type(len(is_o))
    o_columns, e_columns = np.flatnonzero(is_o), np.flatnonzero(~is_o)
    if n_o is None or n_o in (0, len(D)):
        columns = None if n_o is None else o_columns if n_o else e_columns
        return D.map(lambda _, D: nearest(D, columns)[0].astype(kind))

    def to_both(_: slice, D: Matrix) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        o_label, d_o = nearest(D, o_columns)
        e_label, d_e = nearest(D, e_columns)
        return o_label.astype(kind), e_label.astype(kind), d_o - d_e  # -inf: only O; +inf: only an entity

    sides = D.map(to_both)
    cut = smallest(sides, lambda side: side[2], int(n_o), len(D))
    return sides.map(lambda where, side: np.where(cut.chosen(where, side[2]), *side[:2]))


def soft(
    D: Distances | ByBlock[Matrix], is_o: Mask, mass_o: float | None = None, *, temperature: float = 1.0
) -> ByBlock[Matrix]:
    """Spread each word over the prototypes it may have; return A by block, (b, k).

    Without `mass_o`, A is the row softmax of -D / t. With it, the solution is

        A[i, j]  proportional to  exp(-D[i, j] / t + lam [j is O]),

    and the scalar lam is the one root of  sum_i sigmoid(m_i + lam) = mass_o,  with
    m_i = logsumexp_{j in O}(-D / t) - logsumexp_{j not in O}(-D / t), infinite for words that may be only one of both.
    `mass_o` is feasible (:func:`wanted_o`). D is overwritten if it is there already.
    """
    o_columns, e_columns = np.flatnonzero(is_o), np.flatnonzero(~is_o)
    if mass_o is None or is_o.all() or not is_o.any():

        def spread(_: slice, D: Matrix) -> Matrix:
            A = np.divide(D, -temperature, out=D)
            _normalise(A, np.arange(A.shape[1]))
            return A

        return D.map(spread)

    def to_both(_: slice, D: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
        A = np.divide(D, -temperature, out=D)
        return A, _normalise(A, o_columns) - _normalise(A, e_columns)

    sides = D.map(to_both)
    shares = _o_shares(sides, mass_o, len(D))

    def weigh(_: slice, side: tuple[Matrix, NDArray[np.float64]]) -> Matrix:
        A, share = side[0].copy(order="F"), shares.of(side[1])
        for j in range(A.shape[1]):
            A[:, j] *= share if is_o[j] else 1 - share
        return A

    return sides.map(weigh)


def _normalise(L: Matrix, columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Turn the logits in some columns into their softmax, in place; return their logsumexp (-inf: nothing allowed)."""
    top = L[:, columns[0]].copy()
    for j in columns[1:]:
        np.maximum(top, L[:, j], out=top)
    nothing = np.isneginf(top)
    top[nothing] = 0
    total = np.zeros(len(L))
    for j in columns:
        L[:, j] -= top
        np.exp(L[:, j], out=L[:, j])
        total += L[:, j]
    total[nothing] = 1
    for j in columns:
        L[:, j] /= total
    result = top + np.log(total)
    result[nothing] = -np.inf
    return np.asarray(result)


class _Shares(NamedTuple):
    """The share of each word that is O: sigmoid(m + low), or a mix of it and sigmoid(m + high)."""

    low: float
    high: float = 0.0
    mix: float = 0.0

    def of(self, m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of words; m is infinite for those that may be only O, or only an entity."""
        from scipy.special import expit  # here, because it takes long to load, and prediction does without

        shares = (m > 0).astype(np.float64)  # forced words
        free = m[np.isfinite(m)]
        s = expit(free + self.low)
        if self.mix:
            s += (expit(free + self.high) - s) * self.mix
        shares[np.isfinite(m)] = s
        return shares


def _o_shares(sides: ByBlock[Any], mass_o: float, n: int) -> _Shares:
    """Return s_i = sigmoid(m_i + lam) for the one lam with sum_i s_i = mass_o; m_i may be infinite.

    Newton from the hard solution's threshold, inside a bracket that only shrinks. Where no floating-point lam meets
    the sum (temperatures so low that the sum jumps), the two nearest solutions are mixed so that it is met.
    """

    def free_of(side: Any) -> NDArray[np.float64]:
        return np.asarray(side[1][np.isfinite(side[1])])

    def look(_: slice, side: Any) -> tuple[int, int, float, float]:
        free = free_of(side)
        return (
            int(np.count_nonzero(side[1] == np.inf)),
            len(free),
            float(free.min(initial=np.inf)),
            float(free.max(initial=-np.inf)),
        )

    n_only_o, n_free, least, most = reduce_rows(
        look, lambda a, b: (a[0] + b[0], a[1] + b[1], min(a[2], b[2]), max(a[3], b[3])), sides
    )
    target = mass_o - n_only_o
    tolerance = 1e-13 * n
    if target <= tolerance or target >= n_free - tolerance:  # the edge of what is feasible: lam is infinite
        return _Shares(np.inf if target > tolerance else -np.inf)

    def sums(lam: float) -> NDArray[np.float64]:
        def of_block(_: slice, side: Any) -> NDArray[np.float64]:
            from scipy.special import expit

            s = expit(free_of(side) + lam)
            return np.array([s.sum(), (s * (1 - s)).sum()])

        return reduce_rows(of_block, np.add, sides)

    beyond = max(800.0, 1e-12 * max(abs(least), abs(most)))  # 800 is where a sigmoid is 0 or 1 in floating point
    low, high = -most - beyond, -least + beyond  # every sigmoid is 0, every sigmoid is 1
    rank = min(n_free - 1, int(n_free - target))
    lam = -mth_smallest(sides, free_of, rank + 1, n_free)
    while True:
        total, slope = map(float, sums(lam))
        excess = total - target
        if abs(excess) <= tolerance:
            return _Shares(lam)
        low, high = (low, lam) if excess > 0 else (lam, high)
        step = excess / slope if slope > 0 else np.inf
        lam = lam - step if low < lam - step < high else low + (high - low) / 2
        if not low < lam < high:  # neighbouring floats
            at_low, at_high = float(sums(low)[0]), float(sums(high)[0])
            return _Shares(low, high, (target - at_low) / (at_high - at_low))


def entropy(A: Matrix, weights: NDArray[np.float64] | None = None) -> float:
    """Return <A, log A>, each word times its weight: the soft objective's second term at temperature 1."""
    from scipy.special import xlogy

    w = np.ones(len(A)) if weights is None else weights
    return sum(float(w @ xlogy(A[:, j], A[:, j])) for j in range(A.shape[1]))
