"""The labels of words, and their weights: both are kept for the words alone that have any."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import DataError

UNLABELLED = -1


@dataclass(frozen=True)
class Labels:
    """The tags that words may have; only words that are not free to have every tag are kept."""

    classes: NDArray[Any]  # (n_tags,) the tags, as the user wrote them, in order
    rows: NDArray[np.intp]  # (m,) the words that are labelled, wholly or partly, in order
    allowed: NDArray[np.bool_]  # (m, n_tags) the tags each of them may have

    @classmethod
    def from_tags(cls, y: NDArray[Any]) -> "Labels":
        """Read (n,) tags, -1 where unlabelled."""
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            first = int(np.flatnonzero(~np.isfinite(y))[0])
            raise DataError(f"Input y contains NaN or infinity at row {first}; use -1 for an unlabelled word")
        is_labelled = np.array([value != UNLABELLED for value in y]) if y.dtype == object else y != UNLABELLED
        rows = np.flatnonzero(is_labelled)
        if len(rows) == 0:
            raise DataError(
                f"no word is labelled: all {len(y)} entries of y are -1; label at least one word of each tag"
            )
        try:
            classes, codes = np.unique(y[rows], return_inverse=True)
        except TypeError as error:
            raise DataError(
                f"y mixes kinds of tags that have no order ({error}); use all numbers or all strings"
            ) from None
        allowed = np.zeros((len(rows), len(classes)), dtype=bool)
        allowed[np.arange(len(rows)), codes] = True
        return cls(classes, rows, allowed)

    @classmethod
    def from_matrix(cls, allowed: NDArray[np.bool_]) -> "Labels":
        """Read (n, n_tags) bool: the tags each word may have."""
        nothing = np.flatnonzero(~allowed.any(axis=1))
        if len(nothing):
            raise DataError(
                f"y allows no tag at all for {len(nothing)} words, first at rows {_some(nothing)};"
                " every word needs at least one tag it may have (all true: unlabelled)"
            )
        n_tags = allowed.shape[1]
        rows = np.flatnonzero(~allowed.all(axis=1)) if n_tags > 1 else np.arange(len(allowed))
        return cls(np.arange(n_tags), rows, allowed[rows])

    @property
    def is_sure(self) -> NDArray[np.bool_]:
        """For each of `rows` whether one tag alone is left, (m,)."""
        return np.asarray(self.allowed.sum(axis=1) == 1)

    def followed_by(self, tags: NDArray[Any], n: int) -> "Labels":
        """Return the labels of n words, and of more words after them, each of one tag."""
        unknown = [tag for tag in tags.tolist() if self.index_of(tag) is None]
        if unknown:
            raise DataError(f"an anchor has the tag {unknown[0]!r}, which y does not have: {self.classes.tolist()}")
        allowed = np.concatenate([self.allowed, tags[:, None] == self.classes])
        return replace(self, rows=np.concatenate([self.rows, np.arange(n, n + len(tags))]), allowed=allowed)

    def check_starts(self, weights: "Weights | None" = None) -> None:
        """Refuse a tag that no word of some weight has for certain."""
        missing = [
            t
            for t, rows in enumerate(self.rows_by_tag())
            if len(rows) == 0 or (weights is not None and not weights[rows].any())
        ]
        if missing:
            raise DataError(
                f"no word {'' if weights is None else 'of a weight above 0 '}is labelled with tag"
                f" {_some(np.array(missing))} alone;"
                " each tag (class) needs at least one word that may have that tag and no other"
            )

    def index_of(self, tag: object) -> int | None:
        """Return the place of a tag in `classes`, or None."""
        return next((i for i, found in enumerate(self.classes.tolist()) if found == tag), None)

    def rows_by_tag(self) -> list[NDArray[np.intp]]:
        """Return, for each tag, the words that may have that tag alone."""
        return [self.rows[self.is_sure & self.allowed[:, t]] for t in range(len(self.classes))]

    def count_forced(self, o_index: int) -> tuple[int, int]:
        """Return how many words can only be O, and how many can only be entities."""
        may_be_o = self.allowed[:, o_index]
        may_be_entity = np.delete(self.allowed, o_index, axis=1).any(axis=1)
        return int(np.count_nonzero(~may_be_entity)), int(np.count_nonzero(~may_be_o))

    def within(self, where: slice) -> "Labels":
        """Return the labels of some neighbouring words, which keep their numbers."""
        inside = slice(*self.rows.searchsorted((where.start, where.stop)))
        return replace(self, rows=self.rows[inside], allowed=self.allowed[inside])

    def at(self, where: slice) -> "Labels | None":
        """Return the labels of a block of words, which are numbered from its first on; None where there are none."""
        here = self.within(where)
        return replace(here, rows=here.rows - where.start) if len(here.rows) else None

    def forbid(self, D: NDArray[np.float64], prototype_tags: NDArray[np.intp]) -> None:
        """Set the distances D (n, k) to prototypes that are not allowed to infinity, in place."""
        for j, tag in enumerate(prototype_tags):
            D[self.rows[~self.allowed[:, tag]], j] = np.inf


@dataclass(frozen=True)
class Weights:
    """How much words count: the weights (m,) of the `rows` (m,), in order, whose weight is not 1."""

    rows: NDArray[np.intp]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> "Weights":
        """Read (n,) weights."""
        rows = np.flatnonzero(weights != 1)
        return cls(rows, weights[rows])

    def __getitem__(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the weights of some words by their numbers (m,)."""
        found = np.ones(len(rows))
        if len(self.rows):
            places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            is_other = self.rows[places] == rows
            found[is_other] = self.values[places[is_other]]
        return found

    def within(self, where: slice) -> "Weights":
        """Return the weights of some neighbouring words, which keep their numbers."""
        inside = slice(*self.rows.searchsorted((where.start, where.stop)))
        return Weights(self.rows[inside], self.values[inside])

    def at(self, where: slice) -> NDArray[np.float64] | None:
        """Return the weights of all words of a block; None where each counts once."""
        here = self.within(where)
        if not len(here.rows):
            return None
        weights = np.ones(where.stop - where.start)
        weights[here.rows - where.start] = here.values
        return weights


def _some(rows: NDArray[np.intp]) -> str:
    shown = ", ".join(str(row) for row in rows[:5])
    return shown + (", ..." if len(rows) > 5 else "")
