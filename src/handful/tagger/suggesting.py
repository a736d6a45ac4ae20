"""Which sentences to label next.

The doubt of a word is 1 minus the score of its tag. A sentence is worth labelling for type t as far as the model doubts
words that it takes for t, or for which t comes second::

    value_t(sentence) = the sum of its three greatest doubts among such words

Three, because a sum over all words asks for the longest sentences, and a mean for the shortest. What is like a sentence
that is labelled or picked already teaches little: its value is multiplied by ::

    min(1, distance to the nearest of those / half the median distance between candidates)

where the place of a sentence is the mean of its words' vectors, weighted by doubt, and distance is 1 minus the cosine.
A sentence that is unlike all others gets no more than its value: most of those are noise. Types take turns, those with
the fewest labelled mentions first. Nothing is random; of equals, the first in the text is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from handful.text import Sentence

from .evidence import unit
from .tagging import TaggedWords
from .training_text import Words

__all__ = ["place", "suggest"]

N_DOUBTS = 3
LEAST_WEIGHT = 0.02  # of a word in the place of its sentence, however sure it is
POOL = 20  # candidates for each sentence asked for; at least LEAST_POOL for each type
LEAST_POOL = 50


@dataclass(frozen=True)
class _Candidate:
    """A sentence that may be picked.

    Attributes
    ----------
    number : its place in the text
    values : (n_types,)
    place : (d,) float32, at length 1
    """

    sentence: Sentence
    number: int
    values: NDArray[np.float64]
    place: NDArray[np.float32]


def suggest(
    found: Iterable[TaggedWords], labelled: Iterable[TaggedWords], mentions: Sequence[int], n: int
) -> list[Sentence]:
    """Choose sentences to label, holding a few hundred at a time.

    Parameters
    ----------
    found
        The sentences to choose from, tagged; may be a stream. Those with the words of a labelled one are passed over.
    labelled
        The labelled sentences, tagged by the model.
    mentions : (n_types,)
        How many labelled mentions each type has.
    n
        How many to choose.

    Returns
    -------
    list of Sentence
        With the mentions that were found, in the order in which they were chosen; fewer where there are no more.
    """
    places = []
    known: set[Words] = set()
    for words in labelled:
        places.append(place(words))
        known.add(words.sentence.words)
    candidates = _best(found, known, len(mentions), max(LEAST_POOL, -(-POOL * n // max(len(mentions), 1))))
    turns = sorted(range(len(mentions)), key=lambda t: (mentions[t], t))
    return [one.sentence for one in _pick(candidates, np.array(places, np.float32), turns, n)]


def _best(found: Iterable[TaggedWords], known: set[Words], n_types: int, size: int) -> list[_Candidate]:
    """Return the `size` sentences of the highest value for each type, in the order of the text."""
    heaps: list[list[tuple[float, int]]] = [[] for _ in range(n_types)]  # the lowest value first, of equals the last
    pool: dict[int, _Candidate] = {}
    n_heaps: dict[int, int] = {}
    numbers: dict[Words, int] = {}
    for number, words in enumerate(found):
        if words.sentence.words in known or words.sentence.words in numbers:
            continue
        values = _values(words, n_types)
        for heap, value in zip(heaps, values.tolist(), strict=True):
            entry = (value, -number)
            left = None
            if len(heap) < size:
                heappush(heap, entry)
            else:
                left = -heappushpop(heap, entry)[1]
            if left != number:
                n_heaps[number] = n_heaps.get(number, 0) + 1
            if left is not None and left != number:
                n_heaps[left] -= 1
                if not n_heaps[left]:
                    del n_heaps[left], numbers[pool.pop(left).sentence.words]
        if number in n_heaps:
            pool[number] = _Candidate(words.sentence, number, values, place(words))
            numbers[words.sentence.words] = number
    return [pool[number] for number in sorted(pool)]


def _pick(
    candidates: list[_Candidate], labelled: NDArray[np.float32], turns: Sequence[int], n: int
) -> Iterator[_Candidate]:
    """Yield candidates, one for each type in turn."""
    if not candidates:
        return
    places = np.stack([one.place for one in candidates])  # (m, d)
    values = np.stack([one.values for one in candidates])  # (m, n_types)
    far = float(np.median(1 - places @ places.T)) / 2 or 1.0
    distance = np.full(len(candidates), np.inf)
    if len(labelled):
        distance = 1 - (places @ labelled.T).max(axis=1).astype(np.float64)
    is_left = np.ones(len(candidates), bool)
    for turn in range(min(n, len(candidates))):
        news = np.minimum(1, np.maximum(distance, 0) / far)
        worth = (values[:, turns[turn % len(turns)]] + 1e-6) * (news + 1e-6)  # where nothing is in doubt, news decide
        best = int(np.where(is_left, worth, -1).argmax())
        is_left[best] = False
        distance = np.minimum(distance, 1 - places @ places[best])
        yield candidates[best]


def _values(words: TaggedWords, n_types: int) -> NDArray[np.float64]:
    """Return the value of a sentence for each type, (n_types,)."""
    rows = np.arange(len(words.tags))
    doubts = 1 - words.scores[rows, words.tags]
    others = words.scores.copy()
    others[rows, words.tags] = -np.inf
    second = others.argmax(axis=1)
    values = np.zeros(n_types)
    for t in range(n_types):
        concerned = doubts[(words.tags == t + 1) | (second == t + 1)]
        values[t] = np.sort(concerned)[-N_DOUBTS:].sum()
    return values


def place(words: TaggedWords) -> NDArray[np.float32]:
    """Return where a sentence lies: the mean of its words, weighted by doubt, at length 1."""
    doubts = 1 - words.scores[np.arange(len(words.tags)), words.tags]
    weights = (doubts + LEAST_WEIGHT).astype(np.float32)
    return np.ascontiguousarray(unit((weights @ unit(words.features))[None])[0])
