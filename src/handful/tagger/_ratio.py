"""The share of words that are in no mention: an estimate of it, and whether a given one fits the labels."""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from handful._util.passes import ByBlock, reduce_rows
from handful.cluster.labels import Weights
from handful.errors import Advice, HandfulWarning
from handful.text import Sentence

from .training_text import LabelledWords, Ways, sentences_of

__all__ = ["AUTO", "FEWEST_MENTIONS", "check_ratio", "estimate_o_ratio"]

AUTO = "auto"  # the o_ratio that asks for an estimate
FEWEST_MENTIONS = 3  # of each type; an estimate from fewer is worse than none (docs/decisions/0003)
# A ratio contradicts the labels if they have this many times the share of words in mentions that it leaves, in at least
# so many words. Sentences are labelled for their mentions, so their share is higher than that of the text: by a factor
# of 1.3 in the middle, and of 2.5 to 3 in one support of ten, where most sentences have no mention (tweets, contracts).
# benchmarks/support_share.py prints this, and how often the true ratio would be called a contradiction: over 3,894
# supports of 27 corpora, 3.5 % of those of one mention of each type, 1.1 % of those of five.
CONTRADICTION, FEWEST_WORDS = 4, 20


def check_ratio(o_ratio: float | str | None, given: Sequence[Sentence], labels: Ways) -> None:
    """Warn of a ratio that leaves far fewer words to mentions than the labelled sentences have.

    `given` are all sentences of the fit. Without unlabelled ones the ratio has nothing to decide, and nothing is said.
    """
    if not isinstance(o_ratio, float | int) or all(sentence.words in labels for sentence in given):
        return
    sentences = sentences_of(labels)
    n_inside = sum(span.end - span.start for sentence in sentences for span in sentence.spans or ())
    n_words = sum(len(s.words) - sum(entry is not None for entry in s.allowed or ()) for s in sentences)
    if not n_inside or n_words < FEWEST_WORDS or n_inside < CONTRADICTION * (1 - o_ratio) * n_words - 1e-9:
        return
    left, share = 1 - o_ratio, n_inside / n_words
    warnings.warn(
        HandfulWarning(
            f"a ratio of {o_ratio:g} leaves {left:.2g} of all words to mentions, but {share:.2g} of the labelled words "
            f"are in mentions: it is right only if {1 - left / share:.0%} of the sentences have no mention, and "
            "otherwise mentions will be missed",
            Advice("give a lower o_ratio, or o_ratio='auto'", "give a lower --o-ratio, or --o-ratio auto"),
        ),
        stacklevel=3,
    )


def estimate_o_ratio(
    chances: NDArray[np.float64] | Sequence[ByBlock[NDArray[np.float64]]], labelled: LabelledWords
) -> float | None:
    """Estimate which share of all words is in no mention.

    Words whose tag is known count as they are; for the others it is the mean of their chances of O (n,), by names or by
    a regression on the labelled words. They may come by blocks of each part of the text.

    Returns
    -------
    float or None
        The share, one that the labels make possible; None where every word is labelled.
    """
    only_o = labelled.is_sure & labelled.allowed[:, 0]
    known = np.sort(labelled.rows[only_o | ~labelled.allowed[:, 0]])
    if len(known) == labelled.n_words:
        return None
    total, first = 0.0, 0
    for part in [ByBlock.of(chances, len(chances))] if isinstance(chances, np.ndarray) else chances:
        n, of_free = reduce_rows(
            _sum_of_free, _both, part, Weights(labelled.n_words, known - first, np.zeros(len(known)))
        )
        total, first = total + of_free, first + n
    return float((only_o.sum() + total) / labelled.n_words)


def _sum_of_free(_: slice, chances: NDArray[np.float64], is_free: NDArray[np.float64] | None) -> tuple[int, float]:
    """Return how many words there are in a block, and the sum of the chances of those that are free."""
    return len(chances), float((chances if is_free is None else chances[is_free > 0]).sum())


def _both(one: tuple[int, float], other: tuple[int, float]) -> tuple[int, float]:
    return one[0] + other[0], one[1] + other[1]
