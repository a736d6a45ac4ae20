"""Which sentences to label next.

The doubt of a word is 1 minus the score of its tag. A sentence is worth labelling for type t as far as the model doubts
words that it takes for t, or for which t comes second::

    value_t(sentence) = the sum of its three greatest doubts among such words

Three, because a sum over all words asks for the longest sentences, and a mean for the shortest. A sentence like one
that is labelled or picked already teaches little: its value is multiplied by ::

    min(1, distance to the nearest of those / half the median distance between candidates)

where the place of a sentence is the mean of its words' vectors, weighted by doubt, and distance is 1 minus the cosine.
A sentence that is unlike all others gets no more than its value: most of those are noise. Types take turns, those with
the fewest labelled mentions first. Nothing is random; of equals, the first in the text is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful.text import Sentence

from .evidence import unit
from .tagging import TaggedWords
from .training_text import Words

N_DOUBTS = 3
LEAST_WEIGHT = 0.02  # of a word in the place of its sentence, however sure it is
POOL = 20  # candidates for each sentence asked for; at least LEAST_POOL for each type
LEAST_POOL = 50


class _Choice(NamedTuple):
    """A sentence that may be picked."""

    sentence: Sentence
    values: NDArray[np.float64]  # (n_types,)
    place: NDArray[np.float32]  # (d,) at length 1


def suggest(
    found: Iterable[TaggedWords], labelled: Iterable[TaggedWords], mentions: Sequence[int], n: int
) -> list[Sentence]:
    """Choose n sentences to label, in order, holding a few hundred at a time; fewer where there are no more.

    `found` is tagged text, which may be a stream. Sentences with the words of one of `labelled`, which the model tagged
    too, are passed over. `mentions` are the labelled mentions of each type.
    """
    places = []
    known: set[Words] = set()
    for words in labelled:
        places.append(place(words))
        known.add(words.sentence.words)
    candidates = _best(found, known, len(mentions), max(LEAST_POOL, -(-POOL * n // max(len(mentions), 1))))
    if not candidates:
        return []
    types = sorted(range(len(mentions)), key=lambda t: (mentions[t], t))
    turns = [types[turn % len(types)] for turn in range(min(n, len(candidates)))]
    _, values, where = zip(*candidates, strict=True)
    return [candidates[i].sentence for i in pick(np.stack(values), np.stack(where), places, turns)]


def _best(found: Iterable[TaggedWords], known: set[Words], n_types: int, size: int) -> list[_Choice]:
    """Return the `size` sentences of the highest value for each type, in the order of the text."""
    pool: dict[Words, _Choice] = {}
    for words in found:
        name = words.sentence.words
        if name not in known and name not in pool:
            pool[name] = _Choice(words.sentence, values_of(words, range(1, n_types + 1)), place(words))
            if len(pool) > 2 * size * n_types:
                pool = _pruned(pool, size)
    return list(_pruned(pool, size).values())


def _pruned(pool: dict[Words, _Choice], size: int) -> dict[Words, _Choice]:
    if len(pool) <= size:
        return pool
    values = np.stack([one.values for one in pool.values()])
    is_best = np.zeros(len(pool), bool)
    is_best[np.argsort(-values, axis=0, kind="stable")[:size]] = True
    return {name: one for (name, one), is_kept in zip(pool.items(), is_best, strict=True) if is_kept}


def pick(
    values: NDArray[np.float64],
    places: NDArray[np.float32],
    labelled: Sequence[NDArray[np.float32]],
    turns: Iterable[int],
) -> Iterator[int]:
    """Yield the candidate (a row) that is worth most, for each turn.

    `values` are (m, k), and a turn is the column that counts. `places` are those of the candidates, (m, d), and
    `labelled` those of labelled sentences.
    """
    far = float(np.median(1 - places @ places.T)) / 2 or 1.0
    distance = np.full(len(places), np.inf)
    if len(labelled):
        distance = 1 - (places @ np.stack(labelled).T).max(axis=1).astype(np.float64)
    is_left = np.ones(len(places), bool)
    for column in turns:
        news = np.minimum(1, np.maximum(distance, 0) / far)
        worth = (values[:, column] + 1e-6) * (news + 1e-6)  # where nothing is in doubt, news decide
        best = int(np.where(is_left, worth, -1).argmax())
        is_left[best] = False
        distance = np.minimum(distance, 1 - places @ places[best])
        yield best


def values_of(words: TaggedWords, tags: Iterable[int | None], n_doubts: int = N_DOUBTS) -> NDArray[np.float64]:
    """Return the value of a sentence for each of some tags; None, for all tags together."""
    rows = np.arange(len(words.tags))
    doubts = 1 - words.scores[rows, words.tags]
    others = words.scores.copy()
    others[rows, words.tags] = -np.inf
    second = others.argmax(axis=1)
    concerned = (doubts if tag is None else doubts[(words.tags == tag) | (second == tag)] for tag in tags)
    return np.array([np.sort(some)[-n_doubts:].sum() for some in concerned])


def place(words: TaggedWords) -> NDArray[np.float32]:
    """Return where a sentence lies: the mean of its words, weighted by doubt, at length 1."""
    doubts = 1 - words.scores[np.arange(len(words.tags)), words.tags]
    weights = (doubts + LEAST_WEIGHT).astype(np.float32)
    return np.ascontiguousarray(unit((weights @ unit(words.features))[None])[0])
