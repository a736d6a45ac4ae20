"""How good the tagger is: an estimate by cross-validation on decided sentences, and what to label next.

Sentences that the queue asks for are difficult, and those that somebody looked for may be easy. So the estimate is from
a sample. All sentences have an order that has nothing to do with what is in them (`in_random_order`). Each `EVERY`
times the queue asks for the next open one in that order. The sample is what is decided of those up to the first open
one. Other decided sentences count once, for themselves; those of the sample count for all the rest of the text.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful.errors import HandfulError
from handful.tagger import Tagger
from handful.text import Sentence

FEWEST = 5  # decided sentences; of the sample, too, else all decided ones count the same
EVERY = 5  # one sentence of so many in the queue is the next one of the sample
FOLDS, RESAMPLES = 5, 500
UNSEEN = 3  # mentions that may be wrong though none was seen to be, with 95 %
LEAST_MORE, MOST_MORE = 5, 20  # labels that are asked for at once


class Quality(NamedTuple):
    """Strict span F1 on sentences that the fit did not see, and the interval that holds it with 95 %."""

    f1: float
    low: float
    high: float
    n_drawn: int = 0  # sentences of the sample; 0, all decided ones count the same
    weakest: str | None = None  # the type with the most mistakes
    n_more: int = 0  # how many more labels of it would be worth most


def in_random_order(sentences: Iterable[tuple[int, Sentence]]) -> list[int]:
    """Return the ids of sentences in an order by a hash of their words: it stays when others come."""
    by_hash = {
        id: blake2b(repr(one.words).encode("utf-8", "surrogatepass"), digest_size=8).digest() for id, one in sentences
    }
    return sorted(by_hash, key=lambda id: (by_hash[id], id))


def cross_validate(
    labelled: Sequence[Sentence],
    make: Callable[[], Tagger],
    is_wanted: Callable[[], bool] = lambda: True,
    *,
    is_drawn: Sequence[bool] | None = None,
    n_text: int = 0,
) -> Quality | None:
    """Fit without each fifth of the labelled sentences in turn, and compare what is found in it with its labels.

    The fits use labels and names, and no unlabelled text, so that they take little time. The interval comes from
    sentences drawn again with replacement. It reaches at least to the F1 with three right mentions more or less,
    because three may be wrong of a kind that was not seen (the rule of three): a few sentences without a mistake are no
    proof that there are none. The result is None if there are too few sentences, no mentions, or `is_wanted`, which is
    asked before each fit, says no.

    Parameters
    ----------
    is_drawn : which sentences are of the sample
    n_text : how many sentences the text has
    """
    if len(labelled) < FEWEST or not any(sentence.spans for sentence in labelled):
        return None
    names = sorted(
        {span.type for one in labelled for span in one.spans or ()} | {str(one) for one in make().types or ()}
    )
    counts = np.zeros((len(labelled), len(names), 3))  # right, found, labelled
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
            given = set(gold.spans or ())
            guessed = {one for one in guess.spans or () if gold.judged is None or one.type in gold.judged}
            for column, some in enumerate((given & guessed, guessed, given)):
                for span in some:
                    counts[i, names.index(span.type), column] += 1
    drawn = np.ones(len(labelled), bool) if is_drawn is None else np.asarray(is_drawn, bool)
    n_drawn = int(drawn.sum())
    weight = (n_text - (len(labelled) - n_drawn)) / max(n_drawn, 1)
    if n_drawn < FEWEST or is_drawn is None:
        drawn, n_drawn, weight = np.ones(len(labelled), bool), 0, 1.0
    sample, others = counts[drawn].sum(axis=1) * weight, counts[~drawn].sum(axis=(0, 1))
    resampled = np.random.default_rng(0).integers(len(sample), size=(RESAMPLES, len(sample)))
    low, high = np.quantile(_f1(others + sample[resampled].sum(axis=1)), (0.025, 0.975))
    total = others + sample.sum(axis=0)
    unseen = np.array([UNSEEN * weight, 0, 0])
    low, high = min(low, max(0.0, _f1(total - unseen))), max(high, min(1.0, _f1(total + unseen)))
    return Quality(float(_f1(total)), float(low), float(high), n_drawn, *_next(names, counts, drawn, weight))


def _next(
    names: Sequence[str], counts: NDArray[np.float64], drawn: NDArray[np.bool_], weight: float
) -> tuple[str | None, int]:
    """Return the type with the most mistakes, and how many more labels of it are worth asking for."""
    by_type = counts[~drawn].sum(axis=0) + weight * counts[drawn].sum(axis=0)  # (n_types, 3)
    mistakes = by_type[:, 1] + by_type[:, 2] - 2 * by_type[:, 0]
    n_labels = counts[:, :, 2].sum(axis=0)
    mistakes = np.where(n_labels > 0, mistakes, np.inf)  # of a type without a label nothing is known
    if not mistakes.any():
        return None, 0
    worst = int(mistakes.argmax())
    return names[worst], int(np.clip(5 * round(n_labels[worst] / 5), LEAST_MORE, MOST_MORE))


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(2 * counts[..., 0] / np.maximum(counts[..., 1] + counts[..., 2], 1e-9))
