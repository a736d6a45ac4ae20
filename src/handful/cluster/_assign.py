"""The assignment of words to prototypes, A: hard and soft, with and without the ratio.

Both solve, for fixed prototypes and projection,

    min_A  <A, D>  (+ t <A, log A> when soft)
    s.t.   A >= 0,  A 1 = 1,  A[i, j] = 0 where D[i, j] = inf,  and, with a ratio,
           sum_i sum_{j in O} A[i, j] = o_ratio * n   (hard: rounded to an integer).
"""

import numpy as np
from numpy.typing import NDArray

from handful.errors import RatioError

__all__ = ["assign_hard", "assign_soft", "check_ratio", "entropy", "nearest"]

Distances = NDArray[np.float64]
Mask = NDArray[np.bool_]


def nearest(D: Distances, columns: NDArray[np.intp] | None = None) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the column of each row's smallest entry, of all or of some columns in order, and that entry.

    Ties go to the lowest column.
    """
    columns = np.arange(D.shape[1]) if columns is None else columns
    best = D[:, columns[0]].copy()
    for j in columns[1:]:
        np.minimum(best, D[:, j], out=best)
    label = np.empty(len(D), dtype=np.intp)
    for j in columns[::-1]:  # the lowest column last, so that ties are its
        np.putmask(label, D[:, j] == best, j)
    return label, best


def assign_hard(D: Distances, is_o: Mask, n_o: int | None = None) -> NDArray[np.intp]:
    """Assign each word to one prototype.

    Without `n_o`, to the nearest. With it, exactly `n_o` words go to O prototypes: those with the smallest
    d_O - d_E, where d_O (d_E) is the distance to the nearest O (entity) prototype; ties to the lowest word. It is a
    selection in O(n), and the exact minimum: only the side, O or not, is coupled over words.

    Parameters
    ----------
    D : (n, k), `inf` where not allowed; `n_o` must be feasible (:func:`check_ratio`).
    is_o : (k,) whether a prototype's tag is O.
    n_o : how many words go to O prototypes.

    Returns
    -------
    (n,) prototype of each word
    """
    if n_o is None:
        return nearest(D)[0]
    o_columns, e_columns = np.flatnonzero(is_o), np.flatnonzero(~is_o)
    if n_o == len(D):
        return nearest(D, o_columns)[0]
    if n_o == 0:
        return nearest(D, e_columns)[0]
    o_label, d_o = nearest(D, o_columns)
    e_label, d_e = nearest(D, e_columns)
    goes_o = _smallest(d_o - d_e, n_o)  # -inf: only O; +inf: only an entity
    return np.where(goes_o, o_label, e_label)


def _smallest(values: NDArray[np.float64], m: int) -> Mask:
    """Mark the m smallest values (0 < m < n), ties to the lowest index, without sorting."""
    threshold = np.partition(values, m - 1)[m - 1]
    chosen = values < threshold
    ties = np.flatnonzero(values == threshold)
    chosen[ties[: m - np.count_nonzero(chosen)]] = True
    return np.asarray(chosen)


def assign_soft(D: Distances, is_o: Mask, mass_o: float | None = None, *, temperature: float = 1.0) -> Distances:
    """Spread each word over the prototypes it may have, in place: D becomes A.

    Without `mass_o`, A is the row softmax of -D / t. With it, the solution is

        A[i, j]  proportional to  exp(-D[i, j] / t + lam [j is O]),

    and the scalar lam is the one root of  sum_i sigmoid(m_i + lam) = mass_o,  with
    m_i = logsumexp_{j in O}(-D / t) - logsumexp_{j not in O}(-D / t), infinite for words that may be only one of both.

    Parameters
    ----------
    D : (n, k), `inf` where not allowed; overwritten.
    is_o : (k,) whether a prototype's tag is O.
    mass_o : the sum of A over O prototypes, feasible (:func:`check_ratio`).
    temperature : t

    Returns
    -------
    A : (n, k), the memory of D
    """
    A = np.divide(D, -temperature, out=D)
    if mass_o is None or is_o.all() or not is_o.any():
        _normalise(A, np.arange(A.shape[1]))
        return A
    o_columns, e_columns = np.flatnonzero(is_o), np.flatnonzero(~is_o)
    m = _normalise(A, o_columns) - _normalise(A, e_columns)
    share = _o_shares(m, mass_o)
    for j in range(A.shape[1]):
        A[:, j] *= share if is_o[j] else 1 - share
    return A


def _normalise(L: Distances, columns: NDArray[np.intp]) -> NDArray[np.float64]:
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


def _o_shares(m: NDArray[np.float64], mass_o: float) -> NDArray[np.float64]:
    """Return s_i = sigmoid(m_i + lam) for the one lam with sum_i s_i = mass_o; m_i may be infinite.

    Newton from the hard solution's threshold, inside a bracket that only shrinks. Where no floating-point lam meets
    the sum (temperatures so low that the sum jumps), the two nearest solutions are mixed so that it is met.
    """
    from scipy.special import expit  # here, because it takes long to load, and prediction does without

    is_free = np.isfinite(m)
    shares = (m > 0).astype(np.float64)  # forced words; free ones are filled in below
    free, target = m[is_free], mass_o - np.count_nonzero(m == np.inf)
    tolerance = 1e-13 * len(m)
    if target <= tolerance or target >= len(free) - tolerance:  # the edge of what is feasible: lam is infinite
        shares[is_free] = float(target > tolerance)
        return shares
    beyond = max(800.0, 1e-12 * float(np.abs(free).max()))  # 800 is where a sigmoid is 0 or 1 in floating point
    low, high = -float(free.max()) - beyond, -float(free.min()) + beyond  # every sigmoid is 0, every sigmoid is 1
    rank = min(len(free) - 1, int(len(free) - target))
    lam = float(-np.partition(free, rank)[rank])
    while True:
        s = expit(free + lam)
        excess = float(s.sum()) - target
        if abs(excess) <= tolerance:
            break
        low, high = (low, lam) if excess > 0 else (lam, high)
        slope = float((s * (1 - s)).sum())
        step = excess / slope if slope > 0 else np.inf
        lam = lam - step if low < lam - step < high else low + (high - low) / 2
        if not low < lam < high:  # neighbouring floats
            s, t = expit(free + low), expit(free + high)
            s += (t - s) * ((target - s.sum()) / (t.sum() - s.sum()))
            break
    shares[is_free] = s
    return shares


def entropy(A: Distances, weights: NDArray[np.float64] | None = None) -> float:
    """Return <A, log A> / n, the soft objective's second term by word, at temperature 1."""
    from scipy.special import xlogy

    w = np.ones(len(A)) if weights is None else weights
    return sum(float(w @ xlogy(A[:, j], A[:, j])) for j in range(A.shape[1])) / float(w.sum())


def check_ratio(o_ratio: float, n: int, n_only_o: int, n_only_entity: int, *, soft: bool) -> float:
    """Return the number (hard) or mass (soft) of O words that a ratio asks for.

    Raises
    ------
    RatioError
        Where labels make it impossible; a label is never broken to meet a ratio.
    """
    wanted = o_ratio * n if soft else float(np.floor(o_ratio * n + 0.5))
    low, high = n_only_o, n - n_only_entity
    slack = 1e-9 * n if soft else 0.0
    if low - slack <= wanted <= high + slack:
        return min(max(wanted, low), high)
    raise RatioError(
        f"o_ratio={o_ratio} asks for {wanted:g} O words among {n}, but the labels make {n_only_o} words O and"
        f" {n_only_entity} words entities, which leaves between {low} and {high};"
        f" give a ratio between {low / n:.6g} and {high / n:.6g}, or add unlabelled words"
    )
