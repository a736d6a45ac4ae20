"""Tag scores to mentions: a run of words with the same type is one (the IO scheme); the best path of tags."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.text import Sentence, Span

__all__ = ["ENGLISH", "Mention", "Transitions", "decode", "runs", "viterbi"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention found in a sentence, and the mean of its words' scores for its type."""

    span: Span
    score: float


@dataclass(frozen=True)
class Transitions:
    """How likely one tag follows another, whatever the types are called.

    Tags are abstracted to O, the same type and another type, so that what is counted on one corpus holds for the
    types of another. What remains to 1 goes to O after the start and after O, and to the same type after a type.

    Attributes
    ----------
    start_type : a sentence starts with a type
    o_type : a type follows O
    type_o : O follows a type
    type_other : another type follows a type
    """

    start_type: float
    o_type: float
    type_o: float
    type_other: float

    @classmethod
    def count(cls, sentences: Iterable[Sentence]) -> "Transitions":
        """Count neighbouring words of wholly labelled sentences; every count starts at one."""
        starts, after_o, after_type = np.ones(2), np.ones(2), np.ones(3)
        for sentence in sentences:
            tags = [""] * len(sentence.words)
            for span in sentence.spans or ():
                tags[span.start : span.end] = [span.label] * (span.end - span.start)
            if tags:
                starts[int(tags[0] != "")] += 1
            for before, tag in pairwise(tags):
                if before == "":
                    after_o[int(tag != "")] += 1
                else:
                    after_type[0 if tag == "" else 1 if tag == before else 2] += 1
        after_type /= after_type.sum()
        return cls(
            float(starts[1] / starts.sum()),
            float(after_o[1] / after_o.sum()),
            float(after_type[0]),
            float(after_type[2]),
        )

    def log_probabilities(self, n_tags: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the logarithms for O and n_tags - 1 types, among which chances are spread evenly.

        Returns
        -------
        start : (n_tags,) of each tag at the start of a sentence
        transition : (n_tags, n_tags) of each tag (column) after each tag (row); rows sum to 1 before the logarithm
        """
        n_types = max(n_tags - 1, 1)
        start = np.full(n_tags, self.start_type / n_types)
        start[0] = 1 - self.start_type
        # with one type there is no other: its share goes to the two that remain
        other = self.type_other if n_tags > 2 else 0.0
        matrix = np.full((n_tags, n_tags), other / max(n_types - 1, 1))
        matrix[0] = self.o_type / n_types
        matrix[0, 0] = 1 - self.o_type
        matrix[1:, 0] = self.type_o
        np.fill_diagonal(matrix[1:, 1:], max(0.0, 1 - self.type_o - self.type_other))  # rounding may go below
        matrix /= matrix.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(start), np.log(matrix)


#: Counted on the corpora that handful-en was trained on (2.1 million pairs of words; docs/encoder.md lists them).
ENGLISH = Transitions(start_type=0.148, o_type=0.094, type_o=0.502, type_other=0.015)


def viterbi(emissions: NDArray[np.float64], n_words: Sequence[int], transitions: Transitions) -> NDArray[np.intp]:
    """Find the tags of each sentence whose sum of emissions and log transition probabilities is highest.

    Parameters
    ----------
    emissions : (n, n_tags)
        Log-scores, one row a word, of all sentences one after the other; the first column is O.
    n_words
        The words of each sentence; their sum is n.
    transitions
        See `Transitions`.

    Returns
    -------
    (n,) the tags; of equal ones the lowest
    """
    n, n_tags = emissions.shape
    start, step = transitions.log_probabilities(n_tags)
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


def decode(
    scores: NDArray[np.float64],
    n_words: Sequence[int],
    types: Sequence[str],
    tags: NDArray[np.integer[Any]] | None = None,
) -> list[list[Mention]]:
    """Find the mentions of each sentence.

    Parameters
    ----------
    scores : (n, 1 + number of types)
        One row a word, of all sentences one after the other; the first column is O.
    n_words
        The words of each sentence; their sum is n.
    types
        The names of the other columns.
    tags : (n,), optional
        The tag of each word; without, it is the one with the highest score, the first of those that have it.

    Returns
    -------
    list of lists of Mention
        For each sentence its mentions, in order.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2], [0.4, 0.6]])
    >>> decode(scores, [3, 1], ["PER"])
    [[Mention(span=Span(0, 2, 'PER'), score=0.8)], [Mention(span=Span(0, 1, 'PER'), score=0.6)]]
    """
    found: list[list[Mention]] = [[] for _ in n_words]
    if tags is None:
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
