"""Names against labels: whether the words that people labelled are those that a name speaks of, and like each other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float

from .evidence import TypeNames, unit

# The odds that a name fits its type, before labels; the share of labels that say nothing of that; and how much labels
# of other types say of it at most, as the logarithm of odds.
FITS, SAYS_NOTHING, MOST_BY_OTHERS = 300.0, 0.1, 5.0

# A name that claims words labelled O is held back: how far it may be, by the number of labelled sentences, and at most.
DOUBT_BY_SENTENCE, MOST_DOUBT = 0.2, 4.0
_ROUNDS, _LARGEST_STEP = 50, 2.0

# How much labels count: the share of words that are usually most like words of their own type, what a larger share
# adds, how many words more are as usual, and the least. Of many labelled words some are asked.
USUALLY_ALIKE, BY_WORD, AS_USUAL, LEAST, MOST_ASKED = 0.68, 2.6, 40, 0.55, 1_000


def agreement(words: Float, tags: NDArray[np.int64], sentences: NDArray[np.int64]) -> float:
    """Return how much labels of words (m, d) count beside names: 1, more where they agree, less where they do not.

    Words of mentions are compared with those of mentions in other sentences, if their type occurs there. Of n words, r
    are most like a word of their own type. Then labels count ::

        1 + BY_WORD (r - USUALLY_ALIKE n) / (n + AS_USUAL)
    """
    rows = np.flatnonzero(tags)
    if len(np.unique(tags[rows])) < 2:
        return 1.0
    vectors, of_type, place = unit(words[rows]), tags[rows], sentences[rows]
    asked = slice(None, None, 1 + len(rows) // MOST_ASKED)
    cosines = vectors[asked] @ vectors.T
    is_other = place[asked, None] != place
    cosines[~is_other] = -np.inf
    is_possible = (is_other & (of_type[asked, None] == of_type)).any(axis=1)
    is_right = (of_type[cosines.argmax(axis=1)] == of_type[asked])[is_possible]
    n = len(is_right)
    return max(LEAST, 1 + BY_WORD * float(is_right.sum() - USUALLY_ALIKE * n) / (n + AS_USUAL))


def trust(names: TypeNames, words: Float, tags: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how far the name of each type can be trusted, from 0 to 1, given labelled words with their tags.

    It is the chance that the name of a type t fits what is labelled with it, and is not one of n that mean nothing.
    With p_i the share of t in ``softmax(s_1..s_n)`` of a labelled word of t, its log odds are ::

        log FITS + e_t + mean_u e_u        e_t = counts[t] mean_i log((1 - SAYS_NOTHING) n p_i + SAYS_NOTHING)

    over the other types u, whose e_u are limited to MOST_BY_OTHERS, above and below 0. Where other names fit, this one
    is doubted later. Whoever swaps two descriptions, or describes something else than they label, is overruled by a
    few labels.
    """
    n = len(counts)
    if n < 2 or not len(words):
        return np.ones(n)
    scores = names.scores(words)[:, 1:]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    says = np.zeros(n)
    for t in np.flatnonzero(counts):
        own = (1 - SAYS_NOTHING) * n * shares[tags == t + 1, t] + SAYS_NOTHING
        says[t] = counts[t] * np.log(own).mean()
    limited = np.clip(says, -MOST_BY_OTHERS, MOST_BY_OTHERS)
    odds = np.log(FITS) + says + (limited.sum() - limited) / (n - 1)
    return np.where(counts > 0, 0.5 + 0.5 * np.tanh(odds / 2), 1.0)


def doubts(
    names: TypeNames,
    words: Float,
    tags: NDArray[np.int64],
    n_sentences: Sequence[int],
    is_open: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return what to take off the scores of each name, given labelled words: 0, or less where it claims O words.

    For a type t, let ``z = s_t - s_O`` of the words that are t or O. The shift b minimises ::

        sum_i log(1 + exp(-y_i (z_i + b))) + b^2 / (2 sigma^2)        y_i = 1 for a word of t, -1 for O

    with a sigma that grows with the number of sentences that were judged for t. Shifts above 0 are not taken:
    sentences that were picked for their mentions have more of them than the text. Words do not count where t is open,
    (m, n_tags): nobody has looked for t there.
    """
    shifts = np.zeros(names.vectors.shape[0])
    scores = names.scores(words)
    for t, n in enumerate(n_sentences):
        precision = 1 / min(MOST_DOUBT, max(n, 1) * DOUBT_BY_SENTENCE) ** 2
        here = (tags == 0) | (tags == t + 1)
        here = here if is_open is None else here & ~is_open[:, t + 1]
        leads = scores[here, t + 1] - scores[here, 0]
        shifts[t] = min(likeliest_shift(leads, tags[here] == t + 1, precision), 0.0)
    return shifts


def likeliest_shift(leads: Float, is_so: NDArray[np.bool_], precision: float) -> float:
    """Return the b that minimises ``sum_i log(1 + exp(-y_i (leads_i + b))) + precision b^2 / 2``, y_i = 1 or -1."""
    shift = 0.0
    for _ in range(_ROUNDS):
        chances = 0.5 + 0.5 * np.tanh((leads + shift) / 2)
        slope = float((chances - is_so).sum()) + shift * precision
        bend = float((chances * (1 - chances)).sum()) + precision
        step = float(np.clip(slope / bend, -_LARGEST_STEP, _LARGEST_STEP))
        shift -= step
        if abs(step) < 1e-9:
            break
    return shift
