"""The queue: the sentences whose labels teach most.

The doubt of a word is 1 minus the score of its tag. A sentence is worth as much as its eight greatest doubts together:
a decision is on a whole sentence, so one with several doubts teaches more. A sentence like one that is labelled or in
the queue already teaches little: its value is multiplied by ::

    min(1, distance to the nearest of those / half the median distance between candidates)

where places and distances are those of `handful.tagger.suggesting`. A sentence like many other candidates teaches
about all of them: the value is also multiplied by the square of the mean cosine between the sentence and all
candidates. In the first decisions, types without a label take turns: then only words count that the model takes for the
type, or for which it comes second. After that all types count together. docs/decisions/0006 has other ways that were
tried.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from handful.tagger.suggesting import pick, place, values_of
from handful.tagger.tagging import TaggedWords

N_DOUBTS = 8
CANDIDATES = 300  # of the highest value, for all types together and for each that has its turn
NEXT = 50  # of them are predicted anew before the queue is ordered by the next fit
DENSITY, LEAST_DENSITY = 2, 1e-3  # the power of the mean cosine to all candidates, and the least of that
TURNS = 2  # a type without a label has its turn as long as there are fewer labelled sentences for each type


def most_teaching(
    found: Mapping[int, TaggedWords], labelled: Iterable[TaggedWords], mentions: Sequence[int], n: int
) -> tuple[list[int], list[int]]:
    """Return the ids of n sentences, best first, and of these and others that may be among them by the next fit.

    Nothing is random, and of equals the first one is taken. `found` are the sentences to choose from by their ids;
    `mentions` are the numbers of labels, by type.
    """
    if not found:
        return [], []
    known = [place(words) for words in labelled]
    turns = [t + 1 for t, count in enumerate(mentions) if not count]
    turns = turns if len(known) < TURNS * len(mentions) else []
    ids = np.array(list(found))
    values = np.array([values_of(words, [None, *turns], N_DOUBTS) for words in found.values()])  # (m, 1 + n_turns)
    best = np.argsort(-values, axis=0, kind="stable")
    near = ids[np.unique(best[:NEXT])].tolist()
    chosen = np.unique(best[: max(CANDIDATES, n)])
    ids, values = ids[chosen], values[chosen]
    places = np.stack([place(found[id]) for id in ids.tolist()])  # (m, d)
    values = values * np.maximum((places @ places.T).mean(axis=1), LEAST_DENSITY)[:, None] ** DENSITY
    columns = [turn + 1 if turn < len(turns) else 0 for turn in range(min(n, len(ids)))]
    queue = [int(ids[best]) for best in pick(values, places, known, columns)]
    return queue, list(dict.fromkeys([*queue, *near]))
