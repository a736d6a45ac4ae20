"""The surest mentions of each type in a text: examples for the summary of a fit."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float

from .decoding import runs
from .model import Model

N_EXAMPLES = 3

Surest = dict[str, list[tuple[float, str]]]
"""For each type a few mentions of different words, the surest first: the mean score of the words, and the words."""


def look(
    words: Sequence[tuple[str, ...]],
    features_of: Callable[[NDArray[np.intp]], Float],
    unreadable: NDArray[np.bool_],
    model: Model,
    tags: NDArray[np.int64],
    is_free: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], Surest]:
    """Count the words of each tag that are free, and find the surest mentions among them.

    `words` are those of each sentence. The arrays are (n_words,): words that are `unreadable` are O, whatever their
    tag. `features_of` returns the features of some words, given their numbers.
    """
    tags = np.where(unreadable, 0, tags)
    counts = np.bincount(tags[is_free], minlength=len(model.tags))
    tags = np.where(is_free, tags, 0)
    rows = np.flatnonzero(tags)
    scores = np.zeros(len(tags) + 1)
    scores[rows] = model.scores(features_of(rows))[np.arange(len(rows)), tags[rows]]
    found = list(runs(tags, [len(one) for one in words]))
    ends = np.array([(start, stop) for _, start, stop, _ in found], np.intp).reshape(-1, 2)
    means = np.add.reduceat(scores, ends.ravel())[::2] / (ends[:, 1] - ends[:, 0])
    by_type: dict[str, dict[str, tuple[float, str]]] = {name: {} for name in model.tags[1:]}
    for i in np.argsort(-means, kind="stable"):
        number, start, stop, first = found[i]
        known = by_type[model.tags[tags[start]]]
        if len(known) < N_EXAMPLES:
            mention = " ".join(words[number][start - first : stop - first])
            known.setdefault(mention.casefold(), (float(means[i]), mention))
    return counts, {name: list(known.values()) for name, known in by_type.items()}


def merged(parts: Sequence[Surest]) -> Surest:
    """Return the surest mentions of a text, given those of its parts in order."""
    result: Surest = {}
    for name in parts[0]:
        known: dict[str, tuple[float, str]] = {}
        for score, mention in sorted((one for part in parts for one in part[name]), key=lambda one: -one[0]):
            known.setdefault(mention.casefold(), (score, mention))
        result[name] = list(known.values())[:N_EXAMPLES]
    return result
