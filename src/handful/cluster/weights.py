"""How much words count, where most of them count once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Weights"]


@dataclass(frozen=True)
class Weights:
    """The weights of n words; only those that are not 1 are kept.

    Attributes
    ----------
    n : how many words there are
    rows : (m,) the words that do not count once, in order
    values : (m,) how much they count
    """

    n: int
    rows: NDArray[np.intp]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> "Weights":
        """Read (n,) weights."""
        rows = np.flatnonzero(weights != 1)
        return cls(len(weights), rows, weights[rows])

    def __getitem__(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the weights of some words by their numbers (m,)."""
        found = np.ones(len(rows))
        if len(self.rows):
            places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            is_other = self.rows[places] == rows
            found[is_other] = self.values[places[is_other]]
        return found

    def within(self, part: slice) -> "Weights":
        """Return those of a part of the words, which keep their numbers."""
        inside = slice(*self.rows.searchsorted((part.start, part.stop)))
        return Weights(self.n, self.rows[inside], self.values[inside])

    def at(self, part: slice) -> NDArray[np.float64] | None:
        """Return the weights of all words of a block; None where each counts once."""
        here = self.within(part)
        if not len(here.rows):
            return None
        weights = np.ones(part.stop - part.start)
        weights[here.rows - part.start] = here.values
        return weights
