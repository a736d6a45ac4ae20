"""`Proto`, `NNShot` and `StructShot`: the nearest mean, word, and best path; `RegressionBaseline`: a linear classifier.

With d_t(x) the squared Euclidean distance of a word x to the tag t, a tag of the first three has the score
``softmax_t(-d_t(x))``.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.cluster import squared_distances
from handful.encoders import Encoder
from handful.errors import DataError

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
    NNShot's score, and the second comes from the encoder's transitions between O, the same type and another type,
    counted on the corpora that it was trained on. Distances are plain squared distances, as in the paper: however long
    features are, they are not scaled, so that the further apart an encoder puts words, the less transitions say.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        transitions = self._open().transitions
        if transitions is None:
            raise DataError(
                "StructShot needs to know how tags follow each other, and this encoder does not say it; take one that "
                "handful pretrain made, or give an object of yours transitions (handful.text.Transitions.count)"
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


class RegressionBaseline(Baseline):
    """Multinomial logistic regression on the features of the labelled words.

    ``P(t | x) = softmax_t(<w_t, x> + b_t)``, with w and b that minimise
    ``sum_i -log P(t_i | x_i) + 1/2 sum_t ||w_t||^2`` over the labelled words. The biases are free, so features may be
    centred, and are: it changes nothing but how fast the optimiser arrives. With a single type it is the usual binary
    regression, with one w for the type.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        from sklearn.linear_model import LogisticRegression

        features, tags = support.words(self._open(), progress)
        middle = features.mean(axis=0, dtype=np.float64)
        model = LogisticRegression(max_iter=10_000, tol=1e-6).fit(features - middle, tags)

        def log_scores(features: Float) -> NDArray[np.float64]:
            if len(features) == 0:
                return np.empty((0, support.n_tags))
            return np.asarray(model.predict_log_proba(features - middle), np.float64)

        return FittedBaseline(self._open(), support.types, log_scores)
