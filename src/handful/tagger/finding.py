"""`find`: one setting that moves recall against precision, by whole mentions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.errors import DataError

from .decoding import runs

#: Words for the setting: how many times as bad a missed mention is as a wrong one.
FIND = {"sure": 1 / 3, "usual": 1.0, "more": 3.0}

Find = float | str
"""How much to find: "sure", "usual", "more", or how many times as bad a missed mention is as a wrong one."""

#: The settings that an evaluation tries.
CURVE = (0.1, FIND["sure"], 1.0, FIND["more"], 10.0)

MOST = 1_000.0  # and 1 / MOST is the least

Best = Callable[..., NDArray[np.intp]]
"""From logits (n, n_tags), the words of each sentence, and what each mention adds, to the best tags (n,)."""


def odds_of(find: Any) -> float:
    """Return the setting as a number; 1 is the usual one."""
    odds = FIND.get(find) if isinstance(find, str) else find
    if isinstance(odds, bool) or not isinstance(odds, int | float) or not 1 / MOST <= odds <= MOST:
        raise DataError(
            f"find is {find!r:.50}, expected {', '.join(FIND)}, or how many times as bad a missed mention is as a "
            "wrong one, such as 2 or 0.5"
        )
    return float(odds)


def found_by(
    points: float, tags: NDArray[np.intp], logits: NDArray[np.float64], n_words: Sequence[int], best: Best
) -> NDArray[np.intp]:
    """Return other tags than the best ones, (n,): with more mentions if `points` is above 0, else with fewer.

    Mentions are added and left out as wholes; those that stay keep their borders. To leave some out, O gains as many
    points at each word: a mention stays if none of its words would be lost. To add some among the words that are O, a
    mention gains half of the points as such, and half of them for each word, as borders are good then; it is never
    beside one of its own type, which would grow by it.
    """
    inside = tags > 0
    rows = np.flatnonzero(inside)
    moved = logits.copy()
    if points < 0:
        moved[:, 0] -= points
        moved[~inside, 1:] = -np.inf
        kept = best(moved, n_words)
        result = tags.copy()
        for _, start, stop, _ in runs(tags, n_words):
            if (kept[start:stop] != tags[start:stop]).any():
                result[start:stop] = 0
        return result
    moved[~inside, 0] -= points / 2
    moved[inside] = -np.inf
    moved[rows, tags[rows]] = logits[rows, tags[rows]]
    of = np.repeat(np.arange(len(n_words)), n_words)  # the sentence of each word
    for i, j in ((1, 0), (0, 1)):  # the word after a mention, and the one before
        here, there = slice(i, len(tags) - j), slice(j, len(tags) - i)
        beside = np.flatnonzero(~inside[here] & inside[there] & (of[here] == of[there]))
        moved[beside + i, tags[beside + j]] = -np.inf
    return best(moved, n_words, points / 2)
