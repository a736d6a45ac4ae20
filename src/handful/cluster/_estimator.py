"""SubspaceKMeans: constrained k-means with joint subspace selection, as a scikit-learn estimator."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from handful._util.arrays import Float, Rows, row_blocks
from handful._util.parallel import several_threads
from handful._util.passes import Kept
from handful.errors import DataError, HandfulWarning

from ._distances import RelativeDistances, project, tag_distances, tag_scores
from ._labels import Labels
from ._prototypes import RunningSums, means, soft_sums
from ._start import initial_prototypes
from ._statistics import check_finite, weighted_moments
from ._subspace import between, discriminant, within_variance
from .assigning import check_ratio, hard, soft
from .checks import as_floats, as_rows, check_parameters, check_start, check_weights, is_dask
from .weights import Weights

__all__ = ["Round", "SubspaceKMeans"]

TOLERANCE = 1e-6  # soft rounds have converged when no entry of A moved by more


@dataclass(frozen=True)
class Round:
    """What one round did; given to the callback of :meth:`SubspaceKMeans.fit`.

    Attributes
    ----------
    number : counted from 1
    objective : the mean of A * D (plus the entropy term when soft), see :attr:`SubspaceKMeans.objective_`
    counts : (k,) words, or their weight, by prototype
    n_changed : words whose assignment changed in this round
    change : the largest change of an entry of A
    o_share : the share of words assigned to O
    """

    number: int
    objective: float
    counts: NDArray[np.float64]
    n_changed: int
    change: float
    o_share: float


def _by_chunk(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method that treats each row by itself take a `dask.array`, and return one."""

    @wraps(method)
    def of_any(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return method(self, X)
        check_is_fitted(self)
        like = method(self, np.zeros((1, self.n_features_in_), X.dtype))
        return X.rechunk({1: -1}).map_blocks(
            partial(method, self),
            dtype=like.dtype,
            chunks=(X.chunks[0], *((m,) for m in like.shape[1:])),
            drop_axis=[1] if like.ndim == 1 else None,
        )

    return of_any


class SubspaceKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Few-shot classification by constrained k-means with joint subspace selection.

    Each round assigns all words to prototypes (labelled words to their tag's own, a given share of all words to O),
    moves each prototype to the mean of its words, and finds the projection in which prototypes stand furthest apart.
    There is no random number anywhere: the same data give the same result.

    In `y`, -1 means unlabelled, as in scikit-learn's own semi-supervised classifiers (`LabelPropagation`,
    `LabelSpreading`, `SelfTrainingClassifier`). So -1 cannot be a class: a binary task with the classes -1 and 1 has to
    call the first one something else. scikit-learn's `check_classifiers_classes` asks for such a task, and makes an
    exception for its own semi-supervised classifiers, by name. All its other checks pass.

    Parameters
    ----------
    o_ratio : float or None, default=None
        The expected share of words whose tag is O, among all words given to `fit`; None for no constraint.
    assignment : {"hard", "soft"}, default="hard"
        Whether a word belongs to one prototype or is spread over all of them.
    subspace : bool, default=True
        Whether to learn a projection; without, distances are taken between the features as they are.
    o_prototypes : int, default=10
        How many prototypes O gets: it gathers many kinds of words.
    type_prototypes : int, default=1
        How many prototypes every other tag gets.
    scaling : {"within", "total"}, default="within"
        Which scatter the projection makes the identity.
    shrinkage : "oas", float from 0 to 1, or None, default="oas"
        How much the scatter within prototypes is drawn towards a multiple of the identity.
    temperature : float, default=1.0
        How soft soft assignments are, and the scores of `predict_proba`.
    max_iter : int, default=10
        The most rounds; it stops earlier when a round changes nothing.
    o_tag : default=0
        The tag in `y` that means "no entity". Data without that tag are clustered with no O at all.

    Attributes
    ----------
    classes_ : (n_tags,) the tags
    prototypes_ : (k, d) the prototypes, in the space of the features
    prototype_tags_ : (k,) the tag of each prototype, from `classes_`
    projection_ : (d, p) the projection; None where none is learned
    labels_ : (n,) the prototype of each word of the training data in the last assignment
    tags_ : (n,) its tag: here labels and ratio hold, `predict(X)` is free of both
    responsibilities_ : (n, k) the last assignment, only when soft; like `labels_` and `tags_` a `dask.array` if X is
    o_share_ : the share of O words in the last assignment: the ratio met
    objective_ : (n_iter_,) after each round, the mean over words of their squared distance to their prototype in the
        projected space (plus temperature times the mean of A log A when soft), with the projection scaled to unit
        total scatter whatever `scaling` is
    n_iter_ : the number of rounds done
    n_empty_ : the number of prototypes with no word in the last assignment
    n_features_in_ : d

    Examples
    --------
    >>> import numpy as np
    >>> from handful.cluster import SubspaceKMeans
    >>> X = np.array([[0.0, 0.0], [0.1, 0.3], [0.2, 0.1], [5.0, 5.0], [5.1, 4.8], [4.9, 5.2]])
    >>> y = np.array([0, -1, -1, 1, -1, -1])  # 0 is O, -1 is unlabelled
    >>> SubspaceKMeans(o_ratio=0.5).fit(X, y).tags_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        o_ratio: float | None = None,
        *,
        assignment: str = "hard",
        subspace: bool = True,
        o_prototypes: int = 10,
        type_prototypes: int = 1,
        scaling: str = "within",
        shrinkage: str | float | None = "oas",
        temperature: float = 1.0,
        max_iter: int = 10,
        o_tag: Any = 0,
    ) -> None:
        self.o_ratio = o_ratio
        self.assignment = assignment
        self.subspace = subspace
        self.o_prototypes = o_prototypes
        self.type_prototypes = type_prototypes
        self.scaling = scaling
        self.shrinkage = shrinkage
        self.temperature = temperature
        self.max_iter = max_iter
        self.o_tag = o_tag

    @several_threads()
    def fit(
        self,
        X: ArrayLike | Rows,
        y: ArrayLike | Labels,
        *,
        sample_weight: ArrayLike | Weights | None = None,
        start: Mapping[Any, ArrayLike] | None = None,
        callback: Callable[[Round], object] | None = None,
    ) -> Self:
        """Learn prototypes and projection from labelled and unlabelled words.

        Parameters
        ----------
        X : (n, d) features, one row per word; float16, float32 and memory-mapped arrays are read in blocks, by as many
            threads as BLAS may use. The result does not depend on their number. A `dask.array` is read in the same
            blocks by the workers of Dask, with the same result; see docs/scale.md. (`Rows` are read like one array.)
        y : (n,) tags, -1 for unlabelled; or (n, n_tags) bool, the tags that each word may have (an all-true row is
            unlabelled; the tags are then 0 to n_tags - 1); or `Labels`, which say the same of the labelled rows alone
        sample_weight : (n,) how much each word counts; 1 if not given. A word of weight 2 counts as two, one of weight
            0 as none, in the start, the prototypes and the scatter. The ratio counts words, whatever their weights.
        start : for some tags, by their name in `y`, the (m, d) prototypes to start from instead of the labelled words;
            such a tag needs no labelled word
        callback : called after every round with a :class:`Round`
        """
        check_parameters(self)
        X, labels = self._check_data(X, y)
        weights = check_weights(sample_weight, len(X))
        given = check_start(start, labels, weights, X.shape[1])
        n, n_tags = len(X), len(labels.classes)
        o_index = labels.index_of(self.o_tag)
        wanted_o = self._wanted_o(labels, o_index, n)

        moments = weighted_moments(X, weights, whole=self.subspace)
        n_prototypes = [self.o_prototypes if t == o_index else self.type_prototypes for t in range(n_tags)]
        C, tags = initial_prototypes(X, labels.rows_by_tag(), n_prototypes, given, weights)
        is_o = tags == (-1 if o_index is None else o_index)
        U: NDArray[np.float64] | None = None
        A: Kept[NDArray[Any]] | None = None
        sums = RunningSums(X, len(C), weights)
        objectives: list[float] = []

        for number in range(1, self.max_iter + 1):
            distances = RelativeDistances(C, U, moments.mean, tags)
            if self.assignment == "soft":
                previous, A = A, soft(X, distances, is_o, wanted_o, n, labels, temperature=self.temperature)
                found = soft_sums(X, A, previous, weights, is_o, TOLERANCE)
                S, counts, n_changed, change = found.S, found.counts, found.n_changed, found.change
                o_share, more = found.o_mass / n, self.temperature * found.entropy / found.mass
            else:
                A = hard(X, distances, is_o, None if wanted_o is None else int(wanted_o), n, labels)
                S, counts, n_o, n_changed = sums.update(A, is_o)
                change, o_share, more = float(n_changed > 0), n_o / n, 0.0
            C = means(S, counts, C)
            M = between(C, counts, moments)
            if self.subspace:
                U, objective = discriminant(M, moments, scaling=self.scaling, shrinkage=self.shrinkage)
            else:
                objective = within_variance(M, moments)
            objectives.append(objective + more)
            if callback is not None:
                callback(Round(number, objectives[-1], counts, n_changed, change, o_share))
            if change <= TOLERANCE:
                break

        self.classes_ = labels.classes
        self.prototypes_ = C
        self.prototype_tags_ = labels.classes[tags]
        self.projection_ = U
        assert A is not None, "there is at least one round"
        self._keep_assignment(A)
        self.o_share_ = o_share
        self.objective_ = np.array(objectives)
        self.n_iter_ = number
        self.n_empty_ = int(np.count_nonzero(counts == 0))
        return self

    def _keep_assignment(self, A: Kept[NDArray[Any]]) -> None:
        """Set what says how words were assigned in the last round: arrays, or those of Dask if X is one."""
        if self.assignment == "soft":
            self.responsibilities_ = A.array(lambda A: A, np.empty((0, len(self.prototypes_))))
            self.labels_ = A.array(lambda A: A.argmax(axis=1), np.empty(0, np.intp))
        else:
            self.labels_ = A.array(lambda labels: labels.astype(np.intp), np.empty(0, np.intp))
            self.__dict__.pop("responsibilities_", None)  # of an earlier fit
        tags = self.prototype_tags_
        self.tags_ = (
            self.labels_.map_blocks(tags.take, dtype=tags.dtype) if is_dask(self.labels_) else tags[self.labels_]
        )

    def score(self, X: ArrayLike, y: ArrayLike | Labels, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of labelled words whose tag is predicted; unlabelled words do not count.

        This is what `GridSearchCV` goes by unless it is told otherwise. Metrics that are asked for by name, such as
        ``scoring="f1_macro"``, count -1 as a class: leave unlabelled words out before.

        Parameters
        ----------
        X : (n, d)
        y : as in `fit`; of partly labelled words, those with one tag left count
        sample_weight : (n,) how much each word counts; 1 if not given
        """
        given, X = X, self._check_features(X)
        labels = _read_labels(y, len(X))
        rows, tags = labels.rows[labels.is_sure], labels.classes[labels.allowed[labels.is_sure].argmax(axis=1)]
        if len(rows) == 0:
            raise DataError("no word of one tag alone is in y, so nothing can be compared; label at least one")
        weights = check_weights(sample_weight, len(X))
        is_right = self.predict(_safe_indexing(given, rows)) == tags  # a data frame stays one, with its names
        return float(np.average(is_right, weights=None if weights is None else weights[rows]))

    @_by_chunk
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the tag of the nearest prototype of each word, (n,)."""
        nearest_tag = self._tag_distances(X).argmin(axis=1)
        return np.asarray(self.classes_[nearest_tag])

    @_by_chunk
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a score for each tag, (n, n_tags): softmax over tags of -distance / temperature."""
        return tag_scores(self._tag_distances(X), self.temperature)

    @_by_chunk
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return minus the squared distance to each tag, (n, n_tags); with two tags their difference, (n,)."""
        scores = -self._tag_distances(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @_by_chunk
    def transform(self, X: ArrayLike) -> Float:
        """Project words into the learned subspace: X @ projection_, (n, p); X itself where none is learned."""
        X = self._check_features(X)
        origin = np.zeros(X.shape[1])
        return np.concatenate([project(block, self.projection_, origin) for _, block in row_blocks(X)])

    @property
    def _n_features_out(self) -> int:
        return int(self.n_features_in_ if self.projection_ is None else self.projection_.shape[1])

    def _tag_distances(self, X: ArrayLike) -> NDArray[np.float64]:
        X = self._check_features(X)
        tags = np.searchsorted(self.classes_, self.prototype_tags_)
        return tag_distances(X, self.prototypes_, tags, self.projection_, len(self.classes_))

    def _check_features(self, X: ArrayLike) -> Float:
        check_is_fitted(self)
        X = as_floats(validate_data(self, X, reset=False, ensure_all_finite=False))
        check_finite(X)
        return X

    def _check_data(self, X: ArrayLike | Rows, y: ArrayLike | Labels) -> tuple[Rows, Labels]:
        if y is None:
            raise DataError(
                "SubspaceKMeans requires y to be passed, but the target y is None;"
                " give a tag for each labelled word and -1 for the others"
            )
        if not isinstance(X, Rows):
            X = as_rows(X if is_dask(X) else validate_data(self, X, ensure_all_finite=False))
        self.n_features_in_ = X.shape[1]
        return X, _read_labels(y, len(X))

    def _wanted_o(self, labels: Labels, o_index: int | None, n: int) -> float | None:
        """Return how many words (hard) or how much mass (soft) the ratio gives to O; None for no constraint."""
        if self.o_ratio is None:
            return None
        if o_index is None:
            raise DataError(
                f"o_ratio={self.o_ratio} needs words labelled O, but no word is labelled o_tag={self.o_tag!r}"
                f" (tags found: {', '.join(map(repr, labels.classes.tolist()))}); label some, or set o_tag"
            )
        n_only_o, n_only_entity = labels.count_forced(o_index)
        if n_only_o + n_only_entity == n:
            warnings.warn(
                f"o_ratio={self.o_ratio} is ignored: every word is labelled, so nothing is left to decide;"
                " add unlabelled words for it to have a meaning",
                HandfulWarning,
                stacklevel=4,  # who called `fit`, past what lets it use threads
            )
            return None
        return check_ratio(self.o_ratio, n, n_only_o, n_only_entity, soft=self.assignment == "soft")


def _read_labels(y: ArrayLike | Labels, n: int) -> Labels:
    """Return what tags, a matrix of tags that words may have, or `Labels` say of n words."""
    if isinstance(y, Labels):
        return y
    allowed = np.asarray(y)
    if allowed.ndim == 2 and allowed.dtype == bool:
        return Labels.from_matrix(allowed, n)
    labels = Labels.from_tags(column_or_1d(y, warn=True), n)
    check_classification_targets(labels.values)
    return labels
