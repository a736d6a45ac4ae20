"""Tag scores to mentions: a run of words with the same type is one (the IO scheme)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.text import Span

__all__ = ["Mention", "decode", "runs"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention found in a sentence, and the mean of its words' scores for its type."""

    span: Span
    score: float


def decode(scores: NDArray[np.float64], n_words: Sequence[int], types: Sequence[str]) -> list[list[Mention]]:
    """Find the mentions of each sentence.

    Parameters
    ----------
    scores : (n, 1 + number of types)
        One row a word, of all sentences one after the other; the first column is O.
    n_words
        The words of each sentence; their sum is n.
    types
        The names of the other columns.

    Returns
    -------
    list of lists of Mention
        For each sentence its mentions, in order. The tag of a word is the one with the highest score, the first of
        those that have it.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2], [0.4, 0.6]])
    >>> decode(scores, [3, 1], ["PER"])
    [[Mention(span=Span(0, 2, 'PER'), score=0.8)], [Mention(span=Span(0, 1, 'PER'), score=0.6)]]
    """
    found: list[list[Mention]] = [[] for _ in n_words]
    tags = scores.argmax(axis=1)
    for i, start, stop, first in runs(tags, n_words):
        tag = int(tags[start])
        score = float(scores[start:stop, tag].mean())
        found[i].append(Mention(Span(start - first, stop - first, types[tag - 1]), score))
    return found


def runs(tags: NDArray[np.integer[Any]], n_words: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of one tag other than 0 within a sentence.

    Yields
    ------
    sentence, start, stop, first
        The sentence, the words of the run (counted over all sentences), and the sentence's first word.
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
