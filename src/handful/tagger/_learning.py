"""Fitting: from text with its features and labels to a `Model`, by the method asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.errors import Advice, DataError
from handful.text import EntityType, Transitions

from ._evidence import Evidence, NearestLabel, Prototypes, Regression
from ._model import Calibration, Examples, Lead, Model, Softmax
from ._text import LabelledWords, TrainingText, check_sure

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

__all__ = ["AUTO", "FEWEST_MENTIONS", "METHODS", "Learned", "Method", "check", "estimate_o_ratio", "learn"]

AUTO = "auto"  # the o_ratio that asks for an estimate
FEWEST_MENTIONS = 3  # of each type; an estimate from fewer is worse than none (docs/decisions/0003)


@dataclass(frozen=True)
class Method:
    """How a model is made of labels and clusters.

    Attributes
    ----------
    weights : the kinds of evidence, and how much each counts
    labelled_mass : how much all labelled words together count beside the unlabelled ones, at least
    calibration : from logits to scores; None, a softmax at the temperature of the clustering
    has_transitions : whether the tags of a sentence are decided together
    """

    weights: Mapping[str, float]
    labelled_mass: float = 0.0
    calibration: Calibration | None = None
    has_transitions: bool = False


#: What can be asked for: ours, and what the paper has. docs/decisions/0002 has the figures behind the numbers.
METHODS: dict[str, Method] = {
    "handful": Method(
        {"regression": 1.0, "nearest": 27.0, "prototypes": 1 / 24},
        labelled_mass=0.3,
        calibration=Lead(at_zero=-0.81, by_logit=0.071),
        has_transitions=True,
    ),
    "paper": Method({"prototypes": 1.0}),
}


@dataclass(frozen=True)
class Learned:
    """What a fit gives.

    Attributes
    ----------
    model : what tags words
    clusters : the fitted estimator
    labelled : the words of the labelled sentences
    examples : the labelled sentences, to compare with
    """

    model: Model
    clusters: "SubspaceKMeans"
    labelled: LabelledWords
    examples: Examples


def check(method: str, o_ratio: object, clusters: "SubspaceKMeans | None") -> None:
    """Refuse parameters that are not possible, before any long wait."""
    from handful.cluster import SubspaceKMeans

    if method not in METHODS:
        raise DataError(f"method={method!r} is not possible: it must be {' or '.join(map(repr, METHODS))}")
    if isinstance(o_ratio, str) and o_ratio != AUTO:
        raise DataError(f"o_ratio={o_ratio!r} is not possible: it must be {AUTO!r}, None or a number from 0 to 1")
    if clusters is not None and not isinstance(clusters, SubspaceKMeans):
        raise DataError(f"clusters is {clusters!r}, expected a handful.SubspaceKMeans that is not fitted")
    if clusters is not None and clusters.o_ratio is not None:
        raise DataError(
            f"clusters has o_ratio={clusters.o_ratio}",
            Advice("give the ratio to the tagger: Tagger(o_ratio=...)", "give the ratio with --ratio"),
        )
    _estimator(clusters, None if isinstance(o_ratio, str) else o_ratio)._check_parameters()  # type: ignore[arg-type]


def learn(
    text: TrainingText,
    types: tuple[EntityType, ...],
    method: Method,
    o_ratio: float | str | None,
    clusters: "SubspaceKMeans | None" = None,
    transitions: Transitions | None = None,
    start: Mapping[int, NDArray[np.float64]] | None = None,
) -> Learned:
    """Fit the evidence that a method asks for.

    Parameters
    ----------
    text : with features and labels
    types : those to learn
    method : which evidence, and how much each piece counts
    o_ratio : the share of O words, "auto" to estimate it, or None
    clusters : the clustering with its parameters; None, as it is by default
    transitions : those of the encoder
    start : for some tags, the prototypes to start from instead of labelled words
    """
    labelled = text.labelled_words([one.name for one in types])
    check_sure(labelled, ("O", *(one.name for one in types)), started=tuple(start or ()))
    known = labelled.examples
    words, n_tags = np.asarray(text.features[known.rows]), labelled.n_tags

    @cache
    def regression() -> Regression:
        return Regression.fit(words, known.tags, n_tags)

    if isinstance(o_ratio, str):
        is_enough = min(labelled.count_mentions()) >= FEWEST_MENTIONS
        o_ratio = estimate_o_ratio(regression(), text.features, labelled) if is_enough else None
    fitted = _estimator(clusters, o_ratio).fit(
        text.features, labelled.labels(), sample_weight=labelled.weights(method.labelled_mass), start=start
    )
    prototypes = _prototypes(fitted)
    makers: dict[str, Callable[[], Any]] = {
        "prototypes": lambda: prototypes,
        "regression": regression,
        "nearest": lambda: NearestLabel.of(words, known.tags),
    }
    evidence: tuple[Evidence, ...] = tuple(replace(makers[kind](), weight=w) for kind, w in method.weights.items())
    model = Model(
        types,
        evidence,
        method.calibration or Softmax(float(fitted.temperature)),
        transitions if method.has_transitions else None,
    )
    vectors = np.ascontiguousarray(prototypes.project(words), np.float32)
    return Learned(model, fitted, labelled, Examples(list(text.labels.values()), known.places, known.tags, vectors))


def estimate_o_ratio(regression: Regression, features: Float, labelled: LabelledWords) -> float | None:
    """Estimate which share of all words is in no mention.

    Words whose tag is known count as they are; for the others it is the mean chance of O that the regression on the
    labelled words gives them.

    Returns
    -------
    float or None
        The share, one that the labels make possible; None where every word is labelled.
    """
    from scipy.special import softmax  # here, for it takes long to load and prediction does without

    only_o = labelled.is_sure & labelled.allowed[:, 0]
    is_free = np.ones(len(features), dtype=bool)
    is_free[labelled.rows[only_o | ~labelled.allowed[:, 0]]] = False
    if not is_free.any():
        return None
    chances = softmax(regression.logits(features), axis=1)[is_free, 0]
    return float((only_o.sum() + chances.sum()) / len(features))


def _estimator(clusters: "SubspaceKMeans | None", o_ratio: float | None) -> "SubspaceKMeans":
    """Return a clustering with the parameters asked for, which is not fitted."""
    from handful.cluster import SubspaceKMeans

    parameters = {} if clusters is None else clusters.get_params()
    return SubspaceKMeans(**(parameters | {"o_ratio": o_ratio}))


def _prototypes(fitted: "SubspaceKMeans") -> Prototypes:
    """Return what a clustering learned, in the layout of arrays from disk, so that sums are rounded alike."""
    projection = fitted.projection_
    return Prototypes(
        1.0,
        np.ascontiguousarray(fitted.prototypes_),
        fitted.prototype_tags_.astype(np.int64),
        None if projection is None else np.ascontiguousarray(projection),
    )
