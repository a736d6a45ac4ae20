"""Fitting: from text with its features and labels to a `Model`, by the method asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Rows
from handful._util.passes import ByBlock, reduce_rows
from handful._util.progress import ProgressCallback
from handful.cluster.labels import Weights
from handful.errors import Advice, DataError
from handful.text import EntityType, Transitions

from ._trust import checked
from .evidence import NearestLabel, Prototypes, Regression, TypeNames, by_block, o_chances
from .model import Examples, Lead, Model, Softmax
from .training_text import LabelledText, LabelledWords, check_sure, sentences_of

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

    Clusters = SubspaceKMeans | dict[str, Any] | None

AUTO = "auto"  # the o_ratio that asks for an estimate
FEWEST_MENTIONS = 3  # of each type; an estimate from fewer is worse than none (docs/decisions/0003)


@dataclass(frozen=True)
class FitMethod:
    """How a model is made of labels, clusters and names. docs/decisions has the figures behind the numbers.

    Attributes
    ----------
    weights : the kinds of evidence, and how much each counts
    labelled_mass : how much all labelled words together count beside the unlabelled ones, at least
    calibration : from logits to scores; None, a softmax at the temperature of the clustering
    has_transitions : whether the tags of a sentence are decided together
    without_prior : how much transitions count once more without the shares of tags, see `viterbi`
    with_names : what is done instead where the encoder reads names; None, the same
    """

    weights: Mapping[str, float]
    labelled_mass: float = 0.0
    calibration: Lead | None = None
    has_transitions: bool = False
    without_prior: float = 0.0
    with_names: "FitMethod | None" = None


#: What can be asked for: ours, and what the paper has.
METHODS: dict[str, FitMethod] = {
    "handful": FitMethod(
        {"regression": 1.0, "nearest": 27.0, "prototypes": 1 / 24},
        labelled_mass=0.3,
        calibration=Lead(at_zero=-0.81, by_logit=0.071),
        has_transitions=True,
        with_names=FitMethod(
            {"regression": 8.0, "nearest": 48.0, "prototypes": 1 / 40, "names": 8.0},
            labelled_mass=0.3,
            calibration=Lead(at_zero=-0.96, by_logit=0.04),
            has_transitions=True,
            without_prior=4.0,
        ),
    ),
    "paper": FitMethod({"prototypes": 1.0}),
}

ENOUGH_WORDS = 1_500  # for clusters; with fewer, distances to prototypes count less


@dataclass(frozen=True)
class Learned:
    """What a fit gives.

    Attributes
    ----------
    model : what tags words
    clusters : the fitted estimator; None where there was nothing but names
    labelled : the words of the labelled sentences
    examples : the labelled sentences, to compare with
    """

    model: Model
    clusters: "SubspaceKMeans | None"
    labelled: LabelledWords
    examples: Examples


def check(method: str, o_ratio: object, clusters: "Clusters") -> None:
    """Refuse parameters that are not possible, before any long wait."""
    if method not in METHODS:
        raise DataError(f"method={method!r} is not possible: it must be {' or '.join(map(repr, METHODS))}")
    if isinstance(o_ratio, str) and o_ratio != AUTO:
        raise DataError(f"o_ratio={o_ratio!r} is not possible: it must be {AUTO!r}, None or a number from 0 to 1")
    if clusters is None and isinstance(o_ratio, str | None):
        return  # there is nothing else to check, and scikit-learn takes long to load
    from handful.cluster import SubspaceKMeans
    from handful.cluster.checks import check_parameters

    if not isinstance(clusters, SubspaceKMeans | dict | None):
        raise DataError(f"clusters is {clusters!r}, expected a handful.SubspaceKMeans or a dict of its parameters")
    if (given := cluster_parameters(clusters).get("o_ratio")) is not None:
        raise DataError(
            f"clusters has o_ratio={given}",
            Advice("give the ratio to the tagger: Tagger(o_ratio=...)", "give the ratio with --o-ratio"),
        )
    check_parameters(_estimator(clusters, None if isinstance(o_ratio, str) else o_ratio))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Plan:
    """All that a fit will learn by, known before the long wait for features.

    Attributes
    ----------
    types : the types to find, sorted by name
    method : which evidence, and how much each piece counts
    has_names : whether names of types are read
    o_ratio : the share of O words, "auto" to estimate it, or None
    clusters : the clustering with its parameters; None, as it is by default
    labelled : the words of the labelled sentences
    notes : what people should know of it
    """

    types: tuple[EntityType, ...]
    method: FitMethod
    has_names: bool
    o_ratio: float | str | None
    clusters: "Clusters"
    labelled: LabelledWords
    notes: tuple[str, ...] = ()


def plan(
    text: LabelledText,
    types: tuple[EntityType, ...],
    method: str,
    has_names: bool,
    o_ratio: float | str | None,
    clusters: "Clusters",
) -> Plan:
    """Plan a fit; labels that nothing can be learned from are refused. The text needs no features yet."""
    chosen = METHODS[method]
    has_names = has_names and not (chosen.with_names is None and text.labels)  # the paper starts from labels
    labelled = text.labelled_words([one.name for one in types])
    check_sure(labelled, ("O", *(one.name for one in types)), has_names=has_names)
    is_seen = np.bincount(labelled.tags[labelled.is_sure], minlength=labelled.n_tags) > 0
    if isinstance(o_ratio, float | int) and is_seen.all():  # else names say which words may have a type
        from handful.cluster.checks import wanted_o

        n_only_o, n_only_entity = labelled.labels().count_forced(0)
        if n_only_o + n_only_entity < labelled.n_words:
            is_soft = _estimator(clusters, None).assignment == "soft"
            wanted_o(o_ratio, labelled.n_words, n_only_o, n_only_entity, is_soft=is_soft)
    chosen = (chosen.with_names or chosen) if has_names else chosen
    return Plan(types, chosen, has_names, o_ratio, clusters, labelled)


def learn(
    text: LabelledText,
    plan: Plan,
    names: TypeNames | None,
    transitions: Transitions | None = None,
    report: ProgressCallback | None = None,
) -> Learned:
    """Fit the evidence that a method asks for.

    Parameters
    ----------
    text : with features and labels
    plan : of the same text
    names : what the encoder reads in the names of the types; None where the plan has no names
    transitions : those of the encoder
    report : called after each round of the clustering with how many were done, and how many there are at most
    """
    types, method, o_ratio, labelled = plan.types, plan.method, plan.o_ratio, plan.labelled
    if names is not None:
        labelled = labelled.by_names(names, text.features)
    known, n_tags = labelled.examples, labelled.n_tags
    words = np.asarray(text.features[known.rows])
    counts = np.array(labelled.count_mentions())
    if names is not None:
        names = checked(names, words, known.tags, counts, len(text.labels))
    has_labels = len(np.unique(known.tags)) > 1

    @cache
    def regression() -> Regression:
        by_names = None if names is None else names.logits(words)
        return Regression.fit(words, known.tags, n_tags, by_names=by_names)

    if isinstance(o_ratio, str):
        if names is not None:
            o_ratio = estimate_o_ratio(names.o_chances(text.features), labelled)
        else:
            parts = [part for part in text.features.parts if len(part.array)]
            o_ratio = None
            if counts.min() >= FEWEST_MENTIONS:
                logits = regression().logits
                chances = [by_block(lambda block: o_chances(logits(block)), part) for part in parts]
                o_ratio = estimate_o_ratio(chances, labelled)
    fitted = prototypes = None
    if len(text.features):
        fitted = _cluster(
            _estimator(plan.clusters, o_ratio), text.features, labelled, method.labelled_mass, names, report
        )
        prototypes = _prototypes(fitted)
    makers: dict[str, Callable[[], Any]] = {
        "prototypes": lambda: prototypes,
        "regression": lambda: regression() if has_labels else None,
        "nearest": lambda: NearestLabel.of(words, known.tags, n_tags) if has_labels else None,
        "names": lambda: names,
    }
    found = ((makers[kind](), weight) for kind, weight in method.weights.items())
    evidence: list[Any] = [replace(piece, weight=weight) for piece, weight in found if piece is not None]
    if names is not None and method.calibration is not None:
        evidence = [_by_words(piece, len(text.features)) for piece in evidence]
    model = Model(
        types,
        tuple(evidence),
        method.calibration or Softmax(1.0 if fitted is None else float(fitted.temperature)),
        transitions if method.has_transitions else None,
        method.without_prior,
    )
    projected = words if prototypes is None else prototypes.project(words)
    vectors = np.ascontiguousarray(projected, np.float32)
    return Learned(model, fitted, labelled, Examples(sentences_of(text.labels), known.places, known.tags, vectors))


def type_names(encoder: Any, types: tuple[EntityType, ...], model: Model | None = None) -> TypeNames:
    """Return what an encoder reads in the names and descriptions of types; a model of the same types has it already."""
    known = None if model is None or model.types != types else model.piece(TypeNames)
    if known is not None:
        return replace(known, weight=1.0, weights=np.ones(len(types)), doubts=np.zeros(len(types)))
    found = encoder.encode_types(types)
    return TypeNames(
        1.0, found.vectors, found.biases, found.o_vectors, found.o_biases, np.ones(len(types)), np.zeros(len(types))
    )


def _cluster(
    estimator: "SubspaceKMeans",
    features: Rows,
    labelled: LabelledWords,
    labelled_mass: float,
    names: TypeNames | None,
    report: ProgressCallback | None,
) -> "SubspaceKMeans":
    """Fit the clustering; a name is one more labelled word of its type, the prototypes of O are labelled words of O."""
    fitted = estimator.fit(
        features,
        labelled.labels(),
        sample_weight=labelled.weights(labelled_mass, 0 if names is None else names.n_words),
        anchors=None if names is None else names.as_words(),
        callback=None if report is None else lambda one: report(one.number, estimator.max_iter),
    )
    if report is not None:
        report(fitted.n_iter_, fitted.n_iter_)  # it may have ended early
    return fitted


def most_rounds(clusters: "Clusters") -> int:
    """Return how many rounds a clustering has at most."""
    return int(_estimator(clusters, None).max_iter)


def _by_words(piece: Any, n_words: int) -> Any:
    """Let clusters count less where they come from few words: new words lie far from all of their prototypes."""
    if not isinstance(piece, Prototypes):
        return piece
    return replace(piece, weight=piece.weight * min(1.0, n_words / ENOUGH_WORDS))


def _estimator(clusters: "Clusters", o_ratio: float | None) -> "SubspaceKMeans":
    """Return a clustering with the parameters asked for, which is not fitted."""
    from handful.cluster import SubspaceKMeans

    try:
        return SubspaceKMeans(**cluster_parameters(clusters) | {"o_ratio": o_ratio})
    except TypeError as error:
        raise DataError(f"clusters has parameters that a SubspaceKMeans does not have: {error}") from None


def cluster_parameters(clusters: "Clusters") -> dict[str, Any]:
    """Return the parameters of a clustering, which may be given as such."""
    return dict(clusters or {}) if isinstance(clusters, dict | None) else dict(clusters.get_params())


def _prototypes(fitted: "SubspaceKMeans") -> Prototypes:
    """Return what a clustering learned, in the layout of arrays from disk, so that sums are rounded alike."""
    projection = fitted.projection_
    return Prototypes(
        1.0,
        np.ascontiguousarray(fitted.prototypes_),
        fitted.prototype_tags_.astype(np.int64),
        None if projection is None else np.ascontiguousarray(projection),
    )


def estimate_o_ratio(
    chances: NDArray[np.float64] | Sequence[ByBlock[NDArray[np.float64]]], labelled: LabelledWords
) -> float | None:
    """Estimate which share of all words is in no mention.

    Words whose tag is known count as they are; for the others it is the mean of their chances of O (n,), by names or by
    a regression on the labelled words. They may come by blocks of each part of the text.

    Returns
    -------
    float or None
        The share, one that the labels make possible; None where every word is labelled.
    """
    only_o = labelled.is_sure & labelled.allowed[:, 0]
    known = np.sort(labelled.rows[only_o | ~labelled.allowed[:, 0]])
    if len(known) == labelled.n_words:
        return None
    total, first = 0.0, 0
    for part in [ByBlock.of(chances, len(chances))] if isinstance(chances, np.ndarray) else chances:
        n, of_free = reduce_rows(
            _sum_of_free, _both, part, Weights(labelled.n_words, known - first, np.zeros(len(known)))
        )
        total, first = total + of_free, first + n
    return float((only_o.sum() + total) / labelled.n_words)


def _sum_of_free(_: slice, chances: NDArray[np.float64], is_free: NDArray[np.float64] | None) -> tuple[int, float]:
    """Return how many words there are in a block, and the sum of the chances of those that are free."""
    return len(chances), float((chances if is_free is None else chances[is_free > 0]).sum())


def _both(one: tuple[int, float], other: tuple[int, float]) -> tuple[int, float]:
    return one[0] + other[0], one[1] + other[1]
