"""Checks of what a fit is given: parameters, features, weights, anchors and the ratio."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful._util.arrays import Float, Part, Rows
from handful.errors import DataError, RatioError

from .labels import Weights


def is_number(value: object) -> bool:
    """Whether this is a number, and not True or False."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def _is_count(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


_PARAMETERS: list[tuple[str, Callable[[Any], bool], str]] = [
    ("o_ratio", lambda v: v is None or (is_number(v) and 0 <= v <= 1), "None or a number from 0 to 1"),
    ("assignment", lambda v: v in ("hard", "soft"), "'hard' or 'soft'"),
    ("subspace", lambda v: isinstance(v, (bool, np.bool_)), "True or False"),
    ("o_prototypes", _is_count, "a whole number of at least 1"),
    ("type_prototypes", _is_count, "a whole number of at least 1"),
    ("scaling", lambda v: v in ("within", "total"), "'within' or 'total'"),
    (
        "shrinkage",
        lambda v: v in ("oas", None) or (is_number(v) and 0 <= v <= 1),
        "'oas', a number from 0 to 1, or None",
    ),
    ("temperature", lambda v: is_number(v) and 0 < v < np.inf, "a number above 0"),
    ("max_iter", _is_count, "a whole number of at least 1"),
]


def check_parameters(estimator: object) -> None:
    """Refuse values of an estimator's parameters that are not possible."""
    for name, is_valid, expected in _PARAMETERS:
        value = getattr(estimator, name)
        if not is_valid(value):
            raise DataError(f"{name}={value!r} is not possible: it must be {expected}")


def as_floats(X: NDArray[Any]) -> Float:
    """Return X itself where it holds floats of at most 8 bytes, a float64 copy otherwise."""
    return X if X.dtype in (np.float16, np.float32, np.float64) else X.astype(np.float64)


def is_dask(X: object) -> bool:
    """Whether this is a `dask.array`; it is found out without loading Dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "rechunk")


def as_rows(X: Any) -> Rows:
    """Return the rows of an array, or of a `dask.array`."""
    if not is_dask(X):
        return Rows([Part(as_floats(X))])
    from handful._util.on_dask import dask_rows

    return Rows([Part(dask_rows(X))])


def check_weights(sample_weight: ArrayLike | Weights | None, n: int) -> Weights | None:
    """Return the weights, None where all are 1."""
    if sample_weight is None or isinstance(sample_weight, Weights):
        return sample_weight
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must be numbers, one a word") from None
    if weights.shape != (n,):
        raise DataError(
            f"sample_weight has the shape {weights.shape}, expected ({n},): one for each row of X and each anchor"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and at least 0")
    if not weights.any():
        raise DataError("all weights in sample_weight are zero: nothing is left to learn from")
    return Weights.of(weights)


def check_anchors(anchors: Any, d: int) -> tuple[Float, NDArray[Any]]:
    """Return the rows (m, d) and the tags (m,) of anchors."""
    try:
        rows, tags = (np.asarray(one) for one in anchors)
    except (TypeError, ValueError):
        raise DataError("anchors must be a pair: the rows, and the tag of each") from None
    if rows.ndim != 2 or rows.shape[1] != d or tags.shape != rows.shape[:1] or rows.dtype.kind not in "fiu":
        raise DataError(
            f"anchors have the shapes {rows.shape} and {tags.shape}, expected numbers (m, {d}) and tags (m,)"
        )
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise DataError(f"row {wrong[0]} of the anchors has a number that is not finite")
    return as_floats(rows), tags


def wanted_o(o_ratio: float, n: int, n_only_o: int, n_only_entity: int, *, is_soft: bool) -> float:
    """Return the number (hard) or mass (soft) of O words, among n, that a ratio asks for.

    Where labels make it impossible, it is an error: a label is never broken to meet a ratio.
    """
    wanted = o_ratio * n if is_soft else float(np.floor(o_ratio * n + 0.5))
    low, high = n_only_o, n - n_only_entity
    slack = 1e-9 * n if is_soft else 0.0
    if low - slack <= wanted <= high + slack:
        return min(max(wanted, low), high)
    raise RatioError(
        f"o_ratio={o_ratio} asks for {wanted:g} O words among {n}, but the labels make {n_only_o} words O and"
        f" {n_only_entity} words entities, which leaves between {low} and {high};"
        f" give a ratio between {low / n:.6g} and {high / n:.6g}, or add unlabelled words"
    )
