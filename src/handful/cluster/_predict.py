"""Prediction from prototypes and projection: all that a saved tagger needs."""

import numpy as np
from numpy.typing import NDArray

from ._assign import nearest
from ._distances import squared_distances
from ._statistics import Float

__all__ = ["tag_distances", "tag_scores"]


def tag_distances(
    X: Float,
    prototypes: NDArray[np.float64],
    prototype_tags: NDArray[np.intp],
    projection: NDArray[np.float64] | None,
    n_tags: int,
) -> NDArray[np.float64]:
    """Return the squared distance of each word to the nearest prototype of each tag, in the projected space.

    Parameters
    ----------
    X : (n, d)
    prototypes : (k, d)
    prototype_tags : (k,) tag ids from 0 to n_tags - 1, each at least once
    projection : (d, p), or None for the identity

    Returns
    -------
    (n, n_tags)
    """
    D = squared_distances(X, prototypes, projection, origin=prototypes.mean(axis=0))
    return np.stack([nearest(D[:, prototype_tags == t])[1] for t in range(n_tags)], axis=1)


def tag_scores(distances: NDArray[np.float64], temperature: float = 1.0) -> NDArray[np.float64]:
    """Return the softmax over tags of -distance / temperature: the nearest tag has the highest score."""
    logits = distances / -temperature
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return np.asarray(logits)
