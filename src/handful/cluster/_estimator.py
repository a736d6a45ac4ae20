"""SubspaceKMeans: constrained k-means with joint subspace selection, as a scikit-learn estimator."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from handful._util.arrays import Float, Part, Rows, row_blocks
from handful._util.parallel import several_threads
from handful._util.passes import ByBlock
from handful.errors import DataError, HandfulWarning

from ._assign import hard, soft
from ._distances import Distances, project, tag_distances, tag_scores
from ._prototypes import TOLERANCE, HardSums, SoftSums, means
from ._start import initial_prototypes
from ._statistics import check_finite, weighted_moments
from ._subspace import between, discriminant, within_variance
from .checks import as_floats, as_rows, check_anchors, check_parameters, check_weights, is_dask, wanted_o
from .labels import Labels, Weights


@dataclass(frozen=True)
class Round:
    """The result of one round; given to the callback of :meth:`SubspaceKMeans.fit`."""

    number: int  # counted from 1
    objective: float  # the mean of A * D (plus the entropy term when soft), see :attr:`SubspaceKMeans.objective_`
    counts: NDArray[np.float64]  # (k,) words and anchors, or their weight, by prototype
    n_changed: int  # words and anchors whose assignment changed in this round
    change: float  # the largest change of an entry of A
    o_share: float  # the share of words assigned to O


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
    o_ratio : the expected share of words whose tag is O, among all words given to `fit`; None for no constraint
    assignment : "hard", a word belongs to one prototype, or "soft", it is spread over all of them
    subspace : whether to learn a projection; without, distances are taken between the features as they are
    o_prototypes : how many prototypes O gets: it gathers many kinds of words
    type_prototypes : how many prototypes every other tag gets
    scaling : which scatter the projection makes the identity, "within" or "total"
    shrinkage : how much the scatter within prototypes is drawn towards a multiple of the identity: "oas", a number from
        0 to 1, or None
    temperature : how soft soft assignments are, and the scores of `predict_proba`
    max_iter : the most rounds; it stops earlier when a round changes nothing
    o_tag : the tag in `y` that means "no entity". Data without that tag are clustered with no O at all.

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
    objective_ : (n_iter_,) after each round, the mean over words and anchors of their squared distance to their
        prototype in the projected space (plus temperature times the mean of A log A when soft), with the projection
        scaled to unit total scatter whatever `scaling` is
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
        anchors: tuple[ArrayLike, ArrayLike] | None = None,
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
        anchors : (m, d) rows and (m,) tags of labelled rows that are not words of the data, such as the name of a tag.
            They count like labelled words in the start, the prototypes and the scatter, but the ratio is that of the
            words alone, and so are `labels_`, `tags_`, `responsibilities_` and `o_share_`. With them, `sample_weight`
            has n + m numbers. If `y` is a matrix or `Labels`, their tags must be among its own.
        callback : called after every round with a :class:`Round`
        """
        check_parameters(self)
        X, labels, n = self._check_data(X, y, anchors)
        weights = check_weights(sample_weight, len(X))
        labels.check_starts(weights)
        o_index, is_soft = labels.index_of(self.o_tag), self.assignment == "soft"
        n_anchors_o = 0 if o_index is None else labels.within(slice(n, len(X))).count_forced(o_index)[0]
        wanted = self._wanted_o(labels.within(slice(0, n)), o_index, n)
        wanted = None if wanted is None else wanted + n_anchors_o

        moments = weighted_moments(X, weights, whole=self.subspace)
        n_prototypes = [self.o_prototypes if t == o_index else self.type_prototypes for t in range(len(labels.classes))]
        C, tags = initial_prototypes(X, labels.rows_by_tag(), n_prototypes, weights)
        is_o = tags == (-1 if o_index is None else o_index)
        U: NDArray[np.float64] | None = None
        sums = SoftSums(X, is_o, weights) if is_soft else HardSums(X, is_o, weights)
        objectives: list[float] = []

        for number in range(1, self.max_iter + 1):
            D = Distances(X, C, U, moments.mean, tags, labels)
            A = soft(D, is_o, wanted, temperature=self.temperature) if is_soft else hard(D, is_o, wanted)
            found = sums.update(A)
            C = means(found.S, found.counts, C)
            M = between(C, found.counts, moments)
            if self.subspace:
                U, objective = discriminant(M, moments, scaling=self.scaling, shrinkage=self.shrinkage)
            else:
                objective = within_variance(M, moments)
            objectives.append(objective + self.temperature * found.entropy / found.mass)
            o_share = (found.o_mass - n_anchors_o) / n
            if callback is not None:
                callback(Round(number, objectives[-1], found.counts, found.n_changed, found.change, o_share))
            if found.change <= TOLERANCE:
                break

        self.classes_ = labels.classes
        self.prototypes_ = C
        self.prototype_tags_ = labels.classes[tags]
        self.projection_ = U
        self._set_assignment(A, n)
        self.o_share_ = o_share
        self.objective_ = np.array(objectives)
        self.n_iter_ = number
        self.n_empty_ = int(np.count_nonzero(found.counts == 0))
        return self

    def _set_assignment(self, A: ByBlock[NDArray[Any]], n: int) -> None:
        """Set the attributes that say how the n words were assigned: arrays, or those of Dask if X is one."""
        self.__dict__.pop("responsibilities_", None)  # of an earlier fit
        tags, is_soft = self.prototype_tags_, self.assignment == "soft"

        def labels(A: NDArray[Any]) -> NDArray[np.intp]:
            return A.argmax(axis=1) if is_soft else A.astype(np.intp)

        if is_soft:
            self.responsibilities_ = A.array(lambda A: A, np.empty((0, len(self.prototypes_))))[:n]
        self.labels_ = A.array(labels, np.empty(0, np.intp))[:n]
        self.tags_ = A.array(lambda A: tags[labels(A)], tags[:0])[:n]

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

    def _check_data(self, X: ArrayLike | Rows, y: ArrayLike | Labels, anchors: Any) -> tuple[Rows, Labels, int]:
        """Return the rows of words and anchors, their labels, and how many words there are."""
        if y is None:
            raise DataError(
                "SubspaceKMeans requires y to be passed, but the target y is None;"
                " give a tag for each labelled word and -1 for the others"
            )
        if not isinstance(X, Rows):
            X = as_rows(X if is_dask(X) else validate_data(self, X, ensure_all_finite=False))
        n, self.n_features_in_ = X.shape
        if anchors is None:
            return X, _read_labels(y, n), n
        rows, tags = check_anchors(anchors, self.n_features_in_)
        return Rows([*X.parts, Part(rows)]), _read_labels(y, n, tags), n

    def _wanted_o(self, labels: Labels, o_index: int | None, n: int) -> float | None:
        """Return how many words (hard) or how much mass (soft) the ratio gives to O; None for no constraint."""
        if self.o_ratio is None:
            return None
        if o_index is None:
            raise DataError(
                f"o_ratio={self.o_ratio} needs words labelled O, but no word is labelled o_tag={self.o_tag!r}"
                f" (tags found: {', '.join(map(repr, labels.classes.tolist()))}); label some, or set o_tag"
            )
        if len(labels.classes) == 1:
            raise DataError(f"o_ratio={self.o_ratio} needs a word of another tag than {self.o_tag!r}; label one")
        n_only_o, n_only_entity = labels.count_forced(o_index)
        if n_only_o + n_only_entity == n:
            warnings.warn(
                f"o_ratio={self.o_ratio} is ignored: every word is labelled, so nothing is left to decide;"
                " add unlabelled words for it to have a meaning",
                HandfulWarning,
                stacklevel=4,  # who called `fit`, past what lets it use threads
            )
            return None
        return wanted_o(self.o_ratio, n, n_only_o, n_only_entity, is_soft=self.assignment == "soft")


def _read_labels(y: ArrayLike | Labels, n: int, anchors: NDArray[Any] | None = None) -> Labels:
    """Return what tags, a matrix of tags that words may have, or `Labels` say of n words; and the tags of anchors."""
    if not isinstance(y, Labels):
        given = np.asarray(y)
        is_matrix = given.ndim == 2 and given.dtype == bool
        given = given if is_matrix else column_or_1d(y, warn=True)
        if len(given) != n:
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {len(given)}"
            )
        if not is_matrix:
            if anchors is not None:
                kind = object if given.dtype.kind != anchors.dtype.kind else None  # -1 stays a number among names
                given = np.concatenate([given.astype(kind or given.dtype), anchors.astype(kind or anchors.dtype)])
            labels = Labels.from_tags(given)
            check_classification_targets(given[labels.rows])
            return labels
        y = Labels.from_matrix(given)
    return y if anchors is None else y.followed_by(anchors, n)
