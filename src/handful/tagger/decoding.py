"""Tag scores to mentions: a run of words with the same type is one (the IO scheme); the best path of tags."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.text import Span, Transitions


def log_probabilities(transitions: Transitions, n_tags: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms for O and n_tags - 1 types, among which chances are spread evenly.

    They are those of each tag at the start of a sentence, (n_tags,), and of each tag (column) after each tag (row),
    (n_tags, n_tags); rows sum to 1 before the logarithm.
    """
    n_types = max(n_tags - 1, 1)
    start = np.full(n_tags, transitions.start_type / n_types)
    start[0] = 1 - transitions.start_type
    # with one type there is no other: its share goes to the two that remain
    other = transitions.type_other if n_tags > 2 else 0.0
    matrix = np.full((n_tags, n_tags), other / max(n_types - 1, 1))
    matrix[0] = transitions.o_type / n_types
    matrix[0, 0] = 1 - transitions.o_type
    matrix[1:, 0] = transitions.type_o
    np.fill_diagonal(matrix[1:, 1:], max(0.0, 1 - transitions.type_o - transitions.type_other))  # rounding may go below
    matrix /= matrix.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return np.log(start), np.log(matrix)


def viterbi(
    emissions: NDArray[np.float64],
    n_words: Sequence[int],
    transitions: Transitions,
    without_prior: float = 0.0,
    by_mention: float = 0.0,
) -> NDArray[np.intp]:
    """Find the tags of each sentence whose sum of emissions and log transition probabilities is highest.

    A step from tag a to tag b adds ``log P(b | a) + without_prior * (log P(b | a) - log P(b))``. The second part says
    how tags follow each other and nothing of how frequent they are, for emissions that know that already. Each mention
    after O, or at the start of a sentence, adds `by_mention`.

    `emissions` (n, n_tags) are log-scores of all sentences one after the other, O first; `n_words` are the words of
    each sentence. Of equal tags the lowest is taken.
    """
    n, n_tags = emissions.shape
    start, step = _steps(transitions, n_tags, without_prior)
    start[1:] += by_mention
    step[0, 1:] += by_mention
    lengths = np.asarray(n_words, dtype=np.intp)
    order = np.argsort(-lengths, kind="stable")  # all sentences at once, the longest first: the live ones come first
    firsts = (np.cumsum(lengths) - lengths)[order]
    longest_first = lengths[order]
    came_from = np.zeros((n, n_tags), dtype=np.intp)
    best = np.empty((n, n_tags))
    tags = np.zeros(n, dtype=np.intp)
    live = int(np.count_nonzero(longest_first))
    best[firsts[:live]] = start + emissions[firsts[:live]]
    for t in range(1, int(longest_first.max(initial=0))):
        live = int(np.count_nonzero(longest_first > t))
        rows = firsts[:live] + t
        paths = best[rows - 1][:, :, None] + step  # (live, tag before, tag)
        came_from[rows] = paths.argmax(axis=1)
        best[rows] = paths.max(axis=1) + emissions[rows]
    for t in range(int(longest_first.max(initial=0)) - 1, -1, -1):
        live = int(np.count_nonzero(longest_first > t))
        rows = firsts[:live] + t
        is_last = longest_first[:live] == t + 1
        last, inner = rows[is_last], rows[~is_last]
        tags[last] = best[last].argmax(axis=1)
        tags[inner] = came_from[inner + 1, tags[inner + 1]]
    return tags


def path_total(
    emissions: NDArray[np.float64],
    tags: NDArray[np.integer[Any]],
    transitions: Transitions | None,
    without_prior: float = 0.0,
) -> float:
    """Return the sum that `viterbi` makes as high as it can, for these tags of a sentence."""
    total = float(emissions[np.arange(len(tags)), tags].sum())
    if transitions is None:
        return total
    start, step = _steps(transitions, emissions.shape[1], without_prior)
    return total + float(start[tags[0]] + step[tags[:-1], tags[1:]].sum())


def _steps(
    transitions: Transitions, n_tags: int, without_prior: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the first tag adds, (n_tags,), and each tag (column) after each tag (row); see `viterbi`."""
    start, step = log_probabilities(transitions, n_tags)
    if without_prior:
        leaves_o, leaves_type = 1 - np.exp(step[0, 0]), np.exp(step[1, 0])
        of_types = leaves_o / (leaves_o + leaves_type)  # the share of types in the long run
        shares = np.log([1 - of_types, *[of_types / (n_tags - 1)] * (n_tags - 1)])
        start, step = start + without_prior * (start - shares), step + without_prior * (step - shares)
    return start, step


def decode(
    scores: NDArray[np.float64],
    n_words: Sequence[int],
    types: Sequence[str],
    tags: NDArray[np.integer[Any]],
    begins: NDArray[np.bool_] | None = None,
) -> list[tuple[Span, ...]]:
    """Find the mentions of each sentence.

    `scores` (n, 1 + n_types) and `tags` (n,) have a row for each word, of all sentences one after the other; `n_words`
    are the words of each sentence, and `begins` (n,) says where a mention begins behind one of its own type. The score
    of a mention is the mean of its words' scores for the type.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2], [0.4, 0.6]])
    >>> decode(scores, [3, 1], ["PER"], scores.argmax(axis=1))
    [(Span(0, 2, 'PER', score=0.8),), (Span(0, 1, 'PER', score=0.6),)]
    """
    found: list[list[Span]] = [[] for _ in n_words]
    for i, start, stop, first in runs(tags, n_words):
        tag = int(tags[start])
        inner = [] if begins is None else np.flatnonzero(begins[start:stop]).tolist()
        for a, b in pairwise([0, *inner, stop - start]):
            score = float(scores[start + a : start + b, tag].mean())
            found[i].append(Span(start + a - first, start + b - first, types[tag - 1], score))
    return [tuple(spans) for spans in found]


def runs(tags: NDArray[np.integer[Any]], n_words: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of one tag other than 0 within a sentence.

    Each is its sentence, its words (start and stop, counted over all sentences), and the sentence's first word.
    """
    if len(tags) == 0:
        return
    firsts = np.cumsum([0, *n_words])[:-1]
    is_start = np.empty(len(tags), dtype=bool)
    is_start[0] = True
    np.not_equal(tags[1:], tags[:-1], out=is_start[1:])
    is_start[firsts[firsts < len(tags)]] = True
    starts = np.flatnonzero(is_start)
    stops = np.append(starts[1:], len(tags))
    is_mention = tags[starts] > 0
    starts, stops = starts[is_mention], stops[is_mention]
    sentences = np.searchsorted(firsts, starts, side="right") - 1
    yield from zip(sentences.tolist(), starts.tolist(), stops.tolist(), firsts[sentences].tolist(), strict=True)
