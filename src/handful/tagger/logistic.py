"""Logistic regression on the labelled words, beside scores that are known."""

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import thin_product

# On vectors of length 1; docs/decisions/0002 has the figures, and 0004 those beside names.
INVERSE_PENALTY = 40.0  # without names
BESIDE_NAMES = 20.0


def fit_logistic(
    rows: NDArray[np.float32], tags: NDArray[np.int64], n_tags: int, known: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights (n_tags, d) and the bias (n_tags,) with the lowest loss, for words (m, d) of every tag.

    With s_i = known[i] + weights @ rows[i] + bias, the loss is ::

        -sum_i log softmax(s_i)[tags[i]] + ||weights||^2 / (2 inverse_penalty)

    There is no bias if scores are known, (m, n_tags).
    """
    from scipy.optimize import minimize  # here, because it takes long to load, and prediction does without
    from scipy.special import log_softmax

    m, d = rows.shape
    is_right = np.eye(n_tags)[tags]
    start = np.zeros((m, n_tags)) if known is None else known
    has_bias = known is None
    inputs = np.concatenate([rows, np.ones((m, 1))], axis=1) if has_bias else rows.astype(np.float64)
    penalty = np.full(inputs.shape[1], 1 / (INVERSE_PENALTY if known is None else BESIDE_NAMES))
    penalty[d:] = 0.0

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(n_tags, -1)
        logs = log_softmax(start + thin_product(inputs, np.ascontiguousarray(weights.T)), axis=1)
        value = -(logs * is_right).sum() + 0.5 * (penalty * weights**2).sum()
        slope = (np.exp(logs) - is_right).T @ inputs + penalty * weights
        return float(value), slope.ravel()

    first = np.zeros(n_tags * inputs.shape[1])
    found = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-9}).x
    found = found.reshape(n_tags, -1)
    return np.ascontiguousarray(found[:, :d]), found[:, d] if has_bias else np.zeros(n_tags)
