"""The share of O words, estimated from the support and the unlabelled text."""

import numpy as np
from numpy.typing import NDArray

from handful.cluster._statistics import Float

from ._labels import LabelModel

__all__ = ["AUTO", "estimate_o_ratio"]

AUTO = "auto"  # the o_ratio that asks for an estimate
FEWEST_MENTIONS = 3  # of each type; from fewer, an estimate is worse than none (docs/decisions/0003)


def estimate_o_ratio(labels: LabelModel, fewest: int, features: Float, allowed: NDArray[np.bool_]) -> float | None:
    """Estimate which share of all words is in no mention.

    Words whose tag is known count as they are; for the others it is the mean chance of O that the regression on the
    labelled words gives them.

    Parameters
    ----------
    labels : what the labels alone say
    fewest : how many labelled mentions the type has that has fewest
    features : (n, d) of all words
    allowed : (n, n_tags) which tags each word may have

    Returns
    -------
    float or None
        The share, one that the labels make possible; None where every word is labelled, or a type has fewer than
        `FEWEST_MENTIONS` mentions.
    """
    from scipy.special import softmax  # here, for it takes long to load and prediction does without

    n = len(features)
    only_o = allowed[:, 0] & (allowed.sum(axis=1) == 1)
    only_entity = ~allowed[:, 0]
    is_free = ~only_o & ~only_entity
    if fewest < FEWEST_MENTIONS or not is_free.any():
        return None
    chances = softmax(labels.regression(features), axis=1)[is_free, 0]
    return float((only_o.sum() + chances.sum()) / n)
