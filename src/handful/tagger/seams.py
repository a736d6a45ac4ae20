"""Seams: whether two words of one type, side by side, are in one mention or in two."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.text import Sentence

from ._trust import likeliest_shift
from .decoding import runs
from .evidence import array_of

_DEVIATION = 0.5  # of the shift by labels, before any label is seen

# The share of new mentions among words behind one of their type: where the border was learned, and in text before it is
# looked at, which counts as so many words. Of text so many words are looked at.
LEARNED, USUAL, AS_USUAL, MOST_READ = 0.2, 0.03, 10, 5_000


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


@dataclass(frozen=True)
class Seams:
    """The log odds of a new mention at a word y whose type is that of the word x before: ``<u, x> + <v, y> + b_0 + c``.

    The encoder knows u, v and b_0 (`handful.encoders.names`). The text says c: there are lists in it, or two mentions
    are hardly ever side by side. Labels correct it.
    """

    border: NDArray[np.float32] = array_of(np.float32, "border")  # u, v and b_0, (2 dim + 1,)
    shift: float = _log_odds(USUAL) - _log_odds(LEARNED)  # c

    def logits(self, before: Float, after: Float) -> NDArray[np.float64]:
        """Return the log odds of pairs of words, (n,); each depends on its own pair alone, to the last bit."""
        u, v, b = np.split(self.border.astype(np.float64), [before.shape[1], 2 * before.shape[1]])
        return np.asarray((before * u).sum(axis=1) + (after * v).sum(axis=1) + (b[0] + self.shift))

    def of_text(self, features: Float, tags: NDArray[np.intp]) -> "Seams":
        """Return seams with the shift that text says, given its words and their tags, one sentence after the other.

        c is the log odds of a share p, less those where the border was learned, and 0 at most. p is the mean chance of
        a new mention at words behind one of their type, by p itself, found by repetition; USUAL is among them AS_USUAL
        times.
        """
        after = 1 + np.flatnonzero((tags[1:] == tags[:-1]) & (tags[1:] > 0))
        leads = replace(self, shift=0.0).logits(features[after - 1], features[after])
        share = USUAL
        for _ in range(100):
            shift = _log_odds(share) - _log_odds(LEARNED)
            total = float((0.5 + 0.5 * np.tanh((leads + shift) / 2)).sum())
            share = (AS_USUAL * USUAL + total) / (AS_USUAL + len(after))
        return replace(self, shift=min(shift, 0.0))

    def learned(
        self, words: Float, places: NDArray[np.int64], tags: NDArray[np.int64], sentences: Sequence[Sentence]
    ) -> "Seams":
        """Return seams with the shift that labels say, given labelled words, their places and tags, and the sentences.

        A place is the number of a sentence, and the position there, (m, 2).
        """
        starts = {(i, span.start) for i, sentence in enumerate(sentences) for span in sentence.spans or ()}
        is_next = (places[1:] - places[:-1] == (0, 1)).all(axis=1)
        after = 1 + np.flatnonzero(is_next & (tags[1:] == tags[:-1]) & (tags[1:] > 0))
        begins = np.array([tuple(place) in starts for place in places[after].tolist()], bool)
        leads = self.logits(words[after - 1], words[after])
        return replace(self, shift=self.shift + likeliest_shift(leads, begins, _DEVIATION**-2))

    def begins(self, features: Float, tags: NDArray[np.intp], n_words: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each word whether a mention begins there right behind one of its own type, (n,)."""
        found = np.zeros(len(tags), bool)
        inner = [np.arange(start + 1, stop) for _, start, stop, _ in runs(tags, n_words) if stop > start + 1]
        if inner:
            rows = np.concatenate(inner)
            found[rows] = self.logits(features[rows - 1], features[rows]) > 0
        return found
