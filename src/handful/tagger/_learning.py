"""Fitting: from text with its features and labels to a `Model`, by the method asked for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import DataError

from ._labels import LabelModel
from ._model import Model
from ._ratio import AUTO, estimate_o_ratio
from ._training import TrainingText

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

__all__ = ["ESTIMATOR", "METHODS", "Learned", "check", "learn"]

# How much the labelled words together count beside the unlabelled ones, at least; docs/decisions/0002 has the figures.
LABELLED_MASS = 0.3

#: What can be asked for: ours, and what the paper has.
METHODS = ("handful", "paper")

#: The parameters that go to the estimator as they are.
ESTIMATOR = (
    "assignment", "subspace", "o_prototypes", "type_prototypes", "scaling", "shrinkage", "temperature", "max_iter",
)  # fmt: skip


@dataclass(frozen=True)
class Learned:
    """What a fit gives.

    Attributes
    ----------
    model : what tags words
    clusters : the fitted estimator
    allowed : (n_words, n_tags) which tags each word of the text may have
    """

    model: Model
    clusters: "SubspaceKMeans"
    allowed: NDArray[np.bool_]


def check(method: str, o_ratio: float | str | None, parameters: dict[str, Any]) -> None:
    """Refuse parameters that are not possible, before any long wait."""
    if method not in METHODS:
        raise DataError(f"method={method!r} is not possible: it must be {' or '.join(map(repr, METHODS))}")
    if isinstance(o_ratio, str) and o_ratio != AUTO:
        raise DataError(f"o_ratio={o_ratio!r} is not possible: it must be {AUTO!r}, None or a number from 0 to 1")
    _estimator(None if isinstance(o_ratio, str) else o_ratio, parameters)._check_parameters()


def learn(
    text: TrainingText, types: list[str], method: str, o_ratio: float | str | None, parameters: dict[str, Any]
) -> Learned:
    """Fit prototypes, projection and, unless it is the paper's method, what the labels alone say.

    In our method labelled words are given weight, so that unlabelled text does not drag prototypes away from them.

    Parameters
    ----------
    text : with features and labels
    types : those to learn
    method : one of `METHODS`
    o_ratio : the share of O words, "auto" to estimate it, or None
    parameters : those of `ESTIMATOR`
    """
    allowed = text.allowed(types)
    places, rows = text.sure_rows(allowed)
    tags = allowed[rows].argmax(axis=1).astype(np.int64)
    labels = None
    if method != "paper" or o_ratio == AUTO:
        labels = LabelModel.fit(np.asarray(text.features[rows]), tags, allowed.shape[1])
    if isinstance(o_ratio, str):
        assert labels is not None
        fewest = min(count_mentions(np.array(places), tags, allowed.shape[1]))
        o_ratio = estimate_o_ratio(labels, fewest, text.features, allowed)
    weights = None if method == "paper" else _weights(allowed)
    fitted = _estimator(o_ratio, parameters).fit(text.features, allowed, sample_weight=weights)
    projection = fitted._learned_projection()
    model = Model(  # in the layout that arrays from disk have, so that sums are rounded alike
        tuple(types),
        np.ascontiguousarray(fitted.prototypes_),
        fitted.prototype_tags_.astype(np.int64),
        None if projection is None else np.ascontiguousarray(projection),
        float(parameters["temperature"]),
        None if method == "paper" else labels,
    )
    return Learned(model, fitted, allowed)


def count_mentions(places: NDArray[np.int64], tags: NDArray[np.int64], n_tags: int) -> list[int]:
    """Count the runs of each type, given sentence and position (m, 2) and tags (m,) of words in order."""
    follows = np.zeros(len(tags), dtype=bool)
    follows[1:] = (np.diff(places[:, 0]) == 0) & (np.diff(places[:, 1]) == 1) & (tags[1:] == tags[:-1])
    return [int(n) for n in np.bincount(tags[~follows], minlength=n_tags)[1:]]


def _weights(allowed: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return the weight of each word, such that all labelled ones together count `LABELLED_MASS` of the others."""
    is_labelled = allowed.sum(axis=1) == 1
    n_labelled = int(is_labelled.sum())
    weight = LABELLED_MASS * (len(allowed) - n_labelled) / n_labelled
    return np.where(is_labelled, weight, 1.0) if weight > 1 else None


def _estimator(o_ratio: float | None, parameters: dict[str, Any]) -> "SubspaceKMeans":
    from handful.cluster import SubspaceKMeans

    return SubspaceKMeans(o_ratio, **parameters)
