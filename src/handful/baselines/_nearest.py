"""`Proto`, `NNShot` and `StructShot`: the nearest mean, the nearest labelled word, and the best path of those.

With d_t(x) the squared Euclidean distance of a word x to the tag t, a tag's score is ``softmax_t(-d_t(x))``.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.cluster import squared_distances
from handful.encoders import Encoder
from handful.encoders.opened import AnyEncoder
from handful.errors import DataError
from handful.text import Transitions

from ._base import Baseline, FittedBaseline, LabelledSupport, tag_log_scores


class Proto(Baseline):
    """Prototypical classification (Snell et al. 2017): the tag whose labelled words' mean is nearest.

    ``d_t(x) = ||x - c_t||^2`` with c_t the mean of the words labelled t. O has one mean, as each type has.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        features, of_word = support.words(self._open(), progress)
        tags = np.arange(support.n_tags)
        means = np.stack([features[of_word == tag].mean(axis=0, dtype=np.float64) for tag in tags])
        return by_nearest(self._open(), support, means, tags)


class NNShot(Baseline):
    """Nearest neighbour (Yang and Katiyar 2020): the tag of the nearest labelled word.

    ``d_t(x) = min ||x - s||^2`` over the words s labelled t; of equally near tags the first, O before the types.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        return by_nearest(self._open(), support, *support.words(self._open(), progress))


class StructShot(NNShot):
    """Structured nearest neighbour (Yang and Katiyar 2020): the best path through NNShot's scores.

    The tags of a sentence are those of highest ``sum_i log P(t_i | x_i) + log P(t_i | t_{i-1})``, where the first is
    NNShot's score, and the second comes from transitions between O, the same type and another type, counted on other
    corpora. Distances are plain squared distances, as in the paper: however long features are, they are not scaled, so
    that the further apart an encoder puts words, the less transitions have to say.

    Parameters
    ----------
    encoder : as for `handful.Tagger`
    transitions : counted on source corpora; None, those that come with the encoder
    """

    def __init__(self, encoder: AnyEncoder = "handful-en", *, transitions: Transitions | None = None) -> None:
        super().__init__(encoder)
        self.transitions = transitions

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        transitions = self.transitions or self._open().transitions
        if transitions is None:
            raise DataError(
                "StructShot needs to know how tags follow each other, and this encoder's folder does not say it; give "
                "transitions=, as handful.text.Transitions.count(sentences) counts them"
            )
        return replace(super()._learn(support, progress), transitions=transitions)


def by_nearest(encoder: Encoder, support: LabelledSupport, known: Float, tags: NDArray[np.intp]) -> FittedBaseline:
    """Return the baseline that gives a word the tag of the nearest known one, by the squared distance."""
    points = known.astype(np.float64)
    origin = points.mean(axis=0)
    by_tag = [points[tags == tag] for tag in range(support.n_tags)]

    def log_scores(features: Float) -> NDArray[np.float64]:
        nearest = [squared_distances(features, own, None, origin).min(axis=1) for own in by_tag]
        return tag_log_scores(np.stack(nearest, axis=1))

    return FittedBaseline(encoder, support.types, log_scores)
