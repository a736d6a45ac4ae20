"""What a fit learns: `Model` gives tag scores, `Examples` are the labelled words to compare with."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.cluster.distances import project, squared_distances
from handful.cluster.predict import tag_distances, tag_scores
from handful.cluster.statistics import Float
from handful.text import Sentence

__all__ = ["Examples", "Model"]


@dataclass(frozen=True)
class Model:
    """Prototypes and projection.

    Attributes
    ----------
    types : the types' names; tag 0 is O, tag t is types[t - 1]
    prototypes : (k, d)
    prototype_tags : (k,) the tag of each prototype
    projection : (d, p), or None where none was learned
    temperature : how soft scores are
    """

    types: tuple[str, ...]
    prototypes: NDArray[np.float64]
    prototype_tags: NDArray[np.int64]
    projection: NDArray[np.float64] | None
    temperature: float

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags' names, by number."""
        return ("O", *self.types)

    def scores(self, features: Float) -> NDArray[np.float64]:
        """Return the score of each tag for each word, (n, n_tags)."""
        if len(features) == 0:
            return np.empty((0, len(self.tags)))
        distances = tag_distances(features, self.prototypes, self.prototype_tags, self.projection, len(self.tags))
        return tag_scores(distances, self.temperature)

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
