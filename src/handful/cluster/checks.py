"""What a fit refuses: parameters, weights and starts that are not possible."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handful._util.arrays import Float, Part, Rows
from handful.errors import DataError

from ._labels import Labels
from .weights import Weights

__all__ = ["as_floats", "as_rows", "check_parameters", "check_start", "check_weights", "is_dask"]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def _is_count(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1


_PARAMETERS: list[tuple[str, Callable[[Any], bool], str]] = [
    ("o_ratio", lambda v: v is None or (_is_number(v) and 0 <= v <= 1), "None or a number from 0 to 1"),
    ("assignment", lambda v: v in ("hard", "soft"), "'hard' or 'soft'"),
    ("subspace", lambda v: isinstance(v, (bool, np.bool_)), "True or False"),
    ("o_prototypes", _is_count, "a whole number of at least 1"),
    ("type_prototypes", _is_count, "a whole number of at least 1"),
    ("scaling", lambda v: v in ("within", "total"), "'within' or 'total'"),
    (
        "shrinkage",
        lambda v: v in ("oas", None) or (_is_number(v) and 0 <= v <= 1),
        "'oas', a number from 0 to 1, or None",
    ),
    ("temperature", lambda v: _is_number(v) and 0 < v < np.inf, "a number above 0"),
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
    from handful._util.on_dask import DaskRows

    return Rows([Part(DaskRows(X))])


def check_weights(sample_weight: ArrayLike | Weights | None, n: int) -> Weights | None:
    """Return the weights, None where all are 1."""
    if sample_weight is None or isinstance(sample_weight, Weights):
        return sample_weight
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must be numbers, one a word") from None
    if weights.shape != (n,):
        raise DataError(f"sample_weight has the shape {weights.shape}, expected ({n},): one weight for each row of X")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and at least 0")
    if not weights.any():
        raise DataError("all weights in sample_weight are zero: nothing is left to learn from")
    return Weights.of(weights)


def check_start(
    start: Mapping[Any, ArrayLike] | None, labels: Labels, weights: Weights | None, d: int
) -> dict[int, NDArray[np.float64]]:
    """Return the given prototypes by the place of their tag; refuse tags that have neither them nor labelled words."""
    given: dict[int, NDArray[np.float64]] = {}
    for tag, prototypes in (start or {}).items():
        place = labels.index_of(tag)
        if place is None:
            raise DataError(f"start names the tag {tag!r}, which y does not have: {labels.classes.tolist()}")
        rows = np.array(prototypes, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != d or not len(rows) or not np.isfinite(rows).all():
            raise DataError(
                f"start of tag {tag!r} has the shape {rows.shape}, expected finite numbers of shape (m, {d})"
            )
        given[place] = rows
    labels.check_starts(given, weights)
    return given
