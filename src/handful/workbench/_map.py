"""The map: words in two dimensions, by their place in the space of the fit."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float

__all__ = ["flatten"]

Places = dict[Hashable, tuple[float, float]]


def flatten(points: Float, keys: Sequence[Hashable], before: Places) -> Places:
    """Return two coordinates from -1 to 1 for each point: the two directions in which the points differ most.

    The map is turned such that points lie as near as possible to where they were before.

    Parameters
    ----------
    points : (n, p)
    keys : what each point is called
    before : the map before this one
    """
    if len(points) == 0:
        return {}
    centred = np.asarray(points, np.float64) - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    flat: NDArray[np.float64] = np.zeros((len(points), 2))
    flat[:, : min(2, len(axes))] = centred @ axes[:2].T
    shared = [i for i, key in enumerate(keys) if key in before]
    if len(shared) > 1:  # orthogonal Procrustes
        was = np.array([before[keys[i]] for i in shared])
        u, _, v = np.linalg.svd(flat[shared].T @ was)
        flat = flat @ (u @ v)
    flat /= max(float(np.abs(flat).max()), 1e-12)
    return {key: (float(x), float(y)) for key, (x, y) in zip(keys, flat, strict=True)}
