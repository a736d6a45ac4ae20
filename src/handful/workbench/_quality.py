"""How good the tagger is: an estimate by cross-validation on the labels."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.tagger import Tagger
from handful.text import Sentence

FEWEST = 5  # labelled sentences
FOLDS, RESAMPLES = 5, 500
UNSEEN = 3  # mistakes that may be there though none was seen, with 95 %


class Quality(NamedTuple):
    """Strict span F1 on sentences that the fit did not see, and the interval that holds it with 95 %."""

    f1: float
    low: float
    high: float


def cross_validate(
    labelled: Sequence[Sentence], make: Callable[[], Tagger], is_wanted: Callable[[], bool] = lambda: True
) -> Quality | None:
    """Fit without each fifth of the labelled sentences in turn, and compare what is found in it with its labels.

    The fits use labels and names, and no unlabelled text, so that they take little time. The interval comes from
    sentences drawn again with replacement. It reaches at least to the F1 with three mistakes more or less, because
    there may be three mistakes of a kind that was not seen (the rule of three): a few sentences without a mistake are
    no proof that there are none. The result is None if there are too few sentences, no mentions, or `is_wanted`, which
    is asked before each fit, says no.
    """
    if len(labelled) < FEWEST or not any(sentence.spans for sentence in labelled):
        return None
    counts = np.zeros((len(labelled), 3))  # right, found, labelled
    for fold in range(FOLDS):
        if not is_wanted():
            return None
        held_out = range(fold, len(labelled), FOLDS)
        rest = [sentence for i, sentence in enumerate(labelled) if i % FOLDS != fold]
        asked = [labelled[i] for i in held_out]
        try:
            found = make().fit(rest, progress=False).predict_sentences([one.without_labels() for one in asked])
        except HandfulError:  # too little to learn from without this fold: then nothing is found
            found = [one.without_labels() for one in asked]
        for i, gold, guess in zip(held_out, asked, found, strict=True):
            right = set(gold.spans or ()) & set(guess.spans or ())
            counts[i] = len(right), len(guess.spans or ()), len(gold.spans or ())
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(counts), size=(RESAMPLES, len(counts)))
    low, high = np.quantile(_f1(counts[drawn].sum(axis=1)), (0.025, 0.975))
    right, found, given = total = counts.sum(axis=0)
    low = min(low, 2 * right / (found + given + UNSEEN))
    high = max(high, min(1.0, (2 * right + UNSEEN) / (found + given)))
    return Quality(float(_f1(total)), float(low), float(high))


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1))
