"""What a fit learns: `Model` gives tags and scores, `Examples` are the labelled words to compare with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.cluster._distances import project, squared_distances
from handful.cluster._predict import tag_distances, tag_scores
from handful.cluster._statistics import Float
from handful.text import Sentence

from ._decode import ENGLISH, viterbi
from ._labels import LabelModel

__all__ = ["Examples", "Model"]

# Chosen on development data; docs/decisions/0002 has the figures.
CLUSTERS = 1 / 24  # how much a squared distance to a prototype counts beside the logits of the labels
SURE_AT_ZERO, SURE_BY_LOGIT = -0.81, 0.071  # from a word's lead over the next tag to the chance that it is right


@dataclass(frozen=True)
class Model:
    """Prototypes and projection, and what the labels alone say.

    Without `labels`, as the paper has it, a word gets the tag of the nearest prototype. With them, a tag's logit is
    that of the labels less `CLUSTERS` times the squared distance to its nearest prototype, and a sentence gets the
    tags that are best together, given how tags follow each other in English.

    Attributes
    ----------
    types : the types' names; tag 0 is O, tag t is types[t - 1]
    prototypes : (k, d)
    prototype_tags : (k,) the tag of each prototype
    projection : (d, p), or None where none was learned
    temperature : how soft scores are, without `labels`
    labels : what the labels alone say, or None
    """

    types: tuple[str, ...]
    prototypes: NDArray[np.float64]
    prototype_tags: NDArray[np.int64]
    projection: NDArray[np.float64] | None
    temperature: float
    labels: LabelModel | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags' names, by number."""
        return ("O", *self.types)

    def scores(self, features: Float) -> NDArray[np.float64]:
        """Return the score of each tag for each word, (n, n_tags), from 0 to 1."""
        return self._scores(self._logits(features))

    def tag(self, features: Float, n_words: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the scores (n, n_tags) of the words of sentences, and the tag of each, (n,).

        `n_words` are the words of each sentence; their sum is n.
        """
        logits = self._logits(features)
        tags = logits.argmax(axis=1) if self.labels is None else viterbi(logits, n_words, ENGLISH)
        return self._scores(logits), tags

    def _logits(self, features: Float) -> NDArray[np.float64]:
        if len(features) == 0:
            return np.empty((0, len(self.tags)))
        distances = tag_distances(features, self.prototypes, self.prototype_tags, self.projection, len(self.tags))
        return -distances if self.labels is None else self.labels.logits(features) - CLUSTERS * distances

    def _scores(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.labels is None or len(logits) == 0:
            return tag_scores(-logits, self.temperature) if len(logits) else logits
        ordered = np.sort(logits, axis=1)
        best_other = np.where(logits == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
        sure = SURE_AT_ZERO + SURE_BY_LOGIT * (logits - best_other)
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * sure))  # the logistic function, without loading scipy for it

    def squared_distances(self, features: Float) -> NDArray[np.float64]:
        """Return the squared distance of each word to each prototype in the projected space, (n, k)."""
        return squared_distances(features, self.prototypes, self.projection, origin=self._origin)

    def project(self, features: Float) -> Float:
        """Return words in the projected space, (n, p), relative to the middle of the prototypes."""
        return project(features, self.projection, self._origin)

    @property
    def _origin(self) -> NDArray[np.float64]:
        return np.asarray(self.prototypes.mean(axis=0))


@dataclass(frozen=True)
class Examples:
    """The labelled sentences, and where their words of a known tag lie in the projected space.

    Attributes
    ----------
    sentences : the labelled sentences
    places : (m, 2) the sentence and the word in it
    tags : (m,) the tag of each word
    vectors : (m, p) float32
    """

    sentences: list[Sentence]
    places: NDArray[np.int64]
    tags: NDArray[np.int64]
    vectors: NDArray[np.float32]
