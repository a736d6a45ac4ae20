"""What the labels allow: the tags each word may have."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import DataError

from .weights import Weights

__all__ = ["Labels"]

UNLABELLED = -1


@dataclass(frozen=True)
class Labels:
    """The tags that words may have; only words that are not free to have every tag are kept.

    Attributes
    ----------
    classes : (n_tags,) the tags, as the user wrote them, in order
    rows : (m,) the words that are labelled, wholly or partly, in order
    allowed : (m, n_tags) bool, the tags each of them may have
    values : the labels given, for checks of their type
    """

    classes: NDArray[Any]
    rows: NDArray[np.intp]
    allowed: NDArray[np.bool_]
    values: NDArray[Any]

    @classmethod
    def from_tags(cls, y: NDArray[Any], n: int) -> "Labels":
        """Read (n,) tags, -1 where unlabelled."""
        _check_length(len(y), n)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            first = int(np.flatnonzero(~np.isfinite(y))[0])
            raise DataError(f"Input y contains NaN or infinity at row {first}; use -1 for an unlabelled word")
        is_labelled = np.array([value != UNLABELLED for value in y]) if y.dtype == object else y != UNLABELLED
        rows = np.flatnonzero(is_labelled)
        if len(rows) == 0:
            raise DataError(f"no word is labelled: all {n} entries of y are -1; label at least one word of each tag")
        try:
            classes, codes = np.unique(y[rows], return_inverse=True)
        except TypeError as error:
            raise DataError(
                f"y mixes kinds of tags that have no order ({error}); use all numbers or all strings"
            ) from None
        allowed = np.zeros((len(rows), len(classes)), dtype=bool)
        allowed[np.arange(len(rows)), codes] = True
        return cls(classes, rows, allowed, y[rows])

    @classmethod
    def from_matrix(cls, allowed: NDArray[np.bool_], n: int) -> "Labels":
        """Read (n, n_tags) bool: the tags each word may have."""
        _check_length(len(allowed), n)
        nothing = np.flatnonzero(~allowed.any(axis=1))
        if len(nothing):
            raise DataError(
                f"y allows no tag at all for {len(nothing)} words, first at rows {_some(nothing)};"
                " every word needs at least one tag it may have (all true: unlabelled)"
            )
        n_tags = allowed.shape[1]
        rows = np.flatnonzero(~allowed.all(axis=1)) if n_tags > 1 else np.arange(n)
        return cls(np.arange(n_tags), rows, allowed[rows], np.arange(n_tags))

    @property
    def is_sure(self) -> NDArray[np.bool_]:
        """For each of `rows` whether one tag alone is left, (m,)."""
        return np.asarray(self.allowed.sum(axis=1) == 1)

    def check_starts(self, started: Container[int], weights: Weights | None = None) -> None:
        """Refuse a tag that no word of some weight has for certain, unless it is among those that start elsewhere."""
        missing = [
            t
            for t, rows in enumerate(self.rows_by_tag())
            if t not in started and (len(rows) == 0 or (weights is not None and not weights[rows].any()))
        ]
        if missing:
            raise DataError(
                f"no word {'' if weights is None else 'of a weight above 0 '}is labelled with tag"
                f" {_some(np.array(missing))} alone;"
                " each tag (class) needs at least one word that may have that tag and no other, or a start of its own"
            )

    def index_of(self, tag: object) -> int | None:
        """Return the place of a tag in `classes`, or None."""
        places = [i for i, found in enumerate(self.classes.tolist()) if found == tag]
        return places[0] if places else None

    def rows_by_tag(self) -> list[NDArray[np.intp]]:
        """Return, for each tag, the words that may have that tag alone."""
        return [self.rows[self.is_sure & self.allowed[:, t]] for t in range(len(self.classes))]

    def count_forced(self, o_index: int) -> tuple[int, int]:
        """Return how many words can only be O, and how many can only be entities."""
        may_be_o = self.allowed[:, o_index]
        may_be_entity = np.delete(self.allowed, o_index, axis=1).any(axis=1)
        return int(np.count_nonzero(~may_be_entity)), int(np.count_nonzero(~may_be_o))

    def within(self, part: slice) -> "Labels":
        """Return those of a part of the words, which keep their numbers."""
        inside = slice(*self.rows.searchsorted((part.start, part.stop)))
        return replace(self, rows=self.rows[inside], allowed=self.allowed[inside], values=self.values[:0])

    def at(self, part: slice) -> "Labels | None":
        """Return those of a block of words, which are numbered from its first on; None where there are none."""
        first, stop = self.rows.searchsorted((part.start, part.stop))
        if first == stop:
            return None  # as in most blocks of a long text
        here = self.within(part)
        return replace(here, rows=here.rows - part.start)

    def forbid(self, D: NDArray[np.float64], prototype_tags: NDArray[np.intp]) -> None:
        """Set the distances D (n, k) to prototypes that are not allowed to infinity, in place."""
        for j, tag in enumerate(prototype_tags):
            D[self.rows[~self.allowed[:, tag]], j] = np.inf


def _check_length(found: int, n: int) -> None:
    if found != n:
        raise DataError(f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {found}")


def _some(rows: NDArray[np.intp]) -> str:
    shown = ", ".join(str(row) for row in rows[:5])
    return shown + (", ..." if len(rows) > 5 else "")
