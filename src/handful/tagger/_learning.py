"""Fitting: from text with its features and labels to a `Model`, by the method asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.passes import ByBlock, reduce_rows
from handful._util.progress import ProgressCallback
from handful.cluster.labels import Weights
from handful.errors import Advice, DataError
from handful.text import EntityType, Transitions

from ._trust import agreement, doubts, trust
from .borders import Borders
from .evidence import Evidence, NearestLabel, Prototypes, Regression, TypeNames, by_block, o_chances
from .known import KnownWords
from .layers import Layer, names_of, of_type
from .model import Examples, Lead, Model, Softmax
from .seams import MOST_READ, Seams
from .training_text import LabelledText, LabelledWords, sentences_of

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

    Clusters = SubspaceKMeans | dict[str, Any] | None

AUTO = "auto"  # the o_ratio that asks for an estimate
FEWEST_MENTIONS = 3  # of each type; an estimate from fewer is worse than none (docs/decisions/0003)


@dataclass(frozen=True)
class FitMethod:
    """How a model is made of labels, clusters and names. docs/decisions has the figures behind the numbers."""

    weights: Mapping[str, float]  # the kinds of evidence, and how much each counts
    labelled_mass: float = 0.0  # how much all labelled words together count beside the unlabelled ones, at least
    calibration: Lead | None = None  # from logits to scores; None, a softmax at the temperature of the clustering
    has_transitions: bool = False  # whether the tags of a sentence are decided together
    without_prior: float = 0.0  # how much transitions count once more without the shares of tags, see `viterbi`
    steepness: float = 0.0  # of the nearest label; 0, its logit is the cosine
    known_words: float = 0.0  # how much the words and patterns of a type count; 0, they are not used
    with_names: "FitMethod | None" = None  # the method where the encoder reads names; None, the same


#: The methods that can be asked for: ours, and that of the paper.
METHODS: dict[str, FitMethod] = {
    "handful": FitMethod(
        {"regression": 1.0, "nearest": 27.0, "prototypes": 1 / 24},
        labelled_mass=0.3,
        calibration=Lead(at_zero=-0.81, by_logit=0.071),
        has_transitions=True,
        known_words=17.0,
        with_names=FitMethod(
            {"regression": 4.0, "nearest": 72.0, "prototypes": 1 / 80, "names": 4.0},
            labelled_mass=0.3,
            calibration=Lead(at_zero=-0.9, by_logit=0.09),
            has_transitions=True,
            without_prior=1.75,
            steepness=7.0,
            known_words=18.0,
        ),
    ),
    "paper": FitMethod({"prototypes": 1.0}),
}

ENOUGH_WORDS = 1_500  # for clusters; with fewer, distances to prototypes count less
ENOUGH_MENTIONS = 6  # for the regression beside names; a few mentions say more of each other than of the text


@dataclass(frozen=True)
class Learned:
    """The result of a fit."""

    model: Model
    clusters: "SubspaceKMeans | None"  # fitted; None where there was nothing but names
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
    check_parameters(estimator_of(clusters, None if isinstance(o_ratio, str) else o_ratio))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Plan:
    """All that a fit will learn by, known before the long wait for features."""

    types: tuple[EntityType, ...]  # the types to find, sorted by name
    method: FitMethod
    has_names: bool  # whether names of types are read
    o_ratio: float | str | None  # the share of O words, "auto" to estimate it, or None
    clusters: "Clusters"
    labelled: LabelledWords
    notes: Sequence[str] = ()  # for the summary


def learn(
    text: LabelledText,
    plan: Plan,
    names: TypeNames | None,
    transitions: Transitions | None = None,
    border: NDArray[np.float32] | Seams | None = None,
    report: ProgressCallback | None = None,
    kept: "SubspaceKMeans | None" = None,
    n_mentions: int | None = None,
) -> Learned:
    """Fit the evidence that a method asks for, to text with features, and a plan of the same text.

    `names` are those that the encoder read, `transitions` and `border` its own, or seams that are known. `report` is
    called after each round of the clustering with the number of rounds done, and of rounds at most. `kept` are the
    clusters, if they are to stay. `n_mentions` are labelled, if they are not those of the plan.
    """
    method, o_ratio, labelled = plan.method, plan.o_ratio, plan.labelled
    labelled = labelled.by_labels(text.features) if names is None else labelled.by_names(names, text.features)
    known, n_tags, opened = labelled.examples, labelled.n_tags, labelled.opened()
    if known.tags.all():  # no O word is left: take those of before, which say nothing against open types
        known = plan.labelled.examples
    words = np.asarray(text.features[known.rows])
    counts = np.array(labelled.count_mentions())
    if names is not None:
        trusted = trust(names, words, known.tags, counts)
        held_back = doubts(names, words, known.tags, text.count_judged(plan.types), known.is_open)
        names = replace(names, weights=names.weights * trusted, doubts=held_back)
    has_labels = known.tags.any() and not known.tags.all()

    @cache
    def regression() -> Regression:
        if names is None:
            return Regression.fit(words, known.tags, n_tags, is_open=known.is_open)
        return Regression.fit(words, known.tags, n_tags, names.logits(words), known.is_open, names.from_o())

    if isinstance(o_ratio, str):
        if kept is not None:
            o_ratio = None
        elif names is not None:
            o_ratio = estimate_o_ratio(names.o_chances(text.features), opened)
        else:
            o_ratio = None
            if counts.min() >= FEWEST_MENTIONS:
                logits, parts = regression().logits, (part for part in text.features.parts if len(part.array))
                o_ratio = estimate_o_ratio([by_block(lambda one: o_chances(logits(one)), p) for p in parts], opened)
    fitted = kept
    if len(text.features) and fitted is None and "prototypes" in method.weights:
        # a name is one more labelled word of its type, and the prototypes of O are labelled words of O
        anchors, n_free = None if names is None else names.as_words(), 0
        n_named = 0 if anchors is None else len(anchors[1])
        if anchors is None and not opened.counts[0]:  # O starts from the mean of the words that may be O
            mean = np.asarray(text.features[labelled.rows[labelled.allowed[:, 0]]]).mean(axis=0, keepdims=True)
            anchors, n_free = (mean, np.zeros(1, np.int64)), 1
        estimator = estimator_of(plan.clusters, o_ratio)
        fitted = estimator.fit(
            text.features,
            opened.labels(),
            sample_weight=opened.weights(method.labelled_mass, n_named, n_free),
            anchors=anchors,
            callback=None if report is None else lambda one: report(one.number, estimator.max_iter),
        )
        if report is not None:
            report(fitted.n_iter_, fitted.n_iter_)  # it may have ended early
    prototypes = None if fitted is None else _prototypes(fitted)
    weights = dict(method.weights)
    if names is not None and method.calibration is not None and prototypes is not None:
        # new words lie far from all prototypes of few words
        weights["prototypes"] *= min(1.0, len(text.features) / ENOUGH_WORDS)
    found: dict[str, Evidence | None] = {"prototypes": prototypes, "names": names}
    if has_labels and "regression" in weights:
        if names is not None:
            agree = agreement(words, known.tags, known.places[:, 0])
            enough = min(1.0, (counts.sum() if n_mentions is None else n_mentions) / ENOUGH_MENTIONS)
            weights["regression"] *= agree * enough
            weights["nearest"] *= agree * (2 - enough)
        nearest, linear = NearestLabel.of(words, known.tags, n_tags, known.is_open, method.steepness), regression()
        if names is not None and known.is_open.any():
            asked = (~known.is_open[:, tag] for tag in range(n_tags))
            own = [agreement(words[some], known.tags[some], known.places[some, 0]) / agree for some in asked]
            nearest, linear = replace(nearest, strengths=np.array(own)), linear.strengthened(np.array(own))
        found |= {"regression": linear, "nearest": nearest}
    pieces = ((found.get(kind), weight) for kind, weight in weights.items())
    labels = sentences_of(text.labels)
    model = Model(
        plan.types,
        tuple(replace(piece, weight=weight) for piece, weight in pieces if piece is not None),
        method.calibration or Softmax(1.0 if fitted is None else float(fitted.temperature)),
        transitions if method.has_transitions else None,
        method.without_prior,
        KnownWords.of(plan.types, method.known_words, labels, plan.labelled.examples),
        Borders.of(plan.types, labels),
    )
    if isinstance(border, Seams):
        model = replace(model, seams=border)
    elif border is not None:
        some = text.features[np.arange(min(len(text.features), MOST_READ))]
        seams = Seams(border).of_text(some, model.logits(some).argmax(axis=1))
        model = replace(model, seams=seams.learned(words, known.places, known.tags, labels))
    projected = words if prototypes is None else prototypes.project(words)
    vectors = np.ascontiguousarray(projected, np.float32)
    return Learned(model, fitted, labelled, Examples(labels, known.places, known.tags, vectors))


def learn_layers(
    text: LabelledText,
    plan: Plan,
    names: TypeNames | None,
    transitions: Transitions | None = None,
    seams: Seams | None = None,
) -> tuple[Layer, ...]:
    """Fit what finds mentions that share words with others: a model of each type and O, each as `learn` does.

    `names` and `seams` are those of a model of all types: a name that it does not trust is not trusted here. Clusters
    say nothing of one type alone. Where labels have mentions inside others of their own type, a layer learns those
    without names.
    """
    found, n_mentions = list[Layer](), sum(plan.labelled.count_mentions())
    for tag, one in enumerate(plan.types, 1):
        for is_own in (False, True):
            labels = of_type(text.labels, one.name, is_own=is_own)
            by_name = None if names is None or is_own else names_of(names, tag)
            if by_name is None and not any(sentence.spans for ways in labels.values() for sentence in ways):
                continue
            method = METHODS["handful"] if by_name is None else plan.method
            weights = {kind: weight for kind, weight in method.weights.items() if kind != "prototypes"}
            method = replace(method, weights=weights, known_words=0.0 if is_own else method.known_words)
            own = replace(text, labels=labels)
            labelled = own.labelled_words([one.name])
            own_plan = Plan((one,), method, by_name is not None, None, None, labelled)
            found.append(Layer(learn(own, own_plan, by_name, transitions, seams, n_mentions=n_mentions).model, is_own))
    return tuple(found)


def type_names(encoder: Any, types: tuple[EntityType, ...], model: Model | None = None) -> TypeNames:
    """Return what an encoder reads in the names and descriptions of types; a model of the same types has it already."""
    known = None if model is None or model.types != types else model.piece(TypeNames)
    if known is not None:
        return replace(known, weight=1.0, weights=np.ones(len(types)), doubts=np.zeros(len(types)))
    return TypeNames.of(encoder.encode_types(types))


def estimator_of(clusters: "Clusters", o_ratio: float | None) -> "SubspaceKMeans":
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


def estimate_o_ratio(chances: Sequence[ByBlock[NDArray[np.float64]]], labelled: LabelledWords) -> float | None:
    """Estimate which share of all words is in no mention, one that labels make possible; None if all are labelled.

    Words whose tag is known count as they are; for the others it is the mean of their chances of O (n,), by names or by
    a regression on the labelled words. The chances come by blocks of each part of the text.
    """

    def count(_: slice, chances: NDArray[np.float64], is_free: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.array([len(chances), (chances if is_free is None else chances[is_free > 0]).sum()])

    only_o = labelled.is_sure & labelled.allowed[:, 0]
    known = np.sort(labelled.rows[only_o | ~labelled.allowed[:, 0]])
    if len(known) == labelled.n_words:
        return None
    total, first = 0.0, 0
    for part in chances:
        n, of_free = reduce_rows(count, np.add, part, Weights(known - first, np.zeros(len(known)))).tolist()
        total, first = total + of_free, first + int(n)
    return float((only_o.sum() + total) / labelled.n_words)
