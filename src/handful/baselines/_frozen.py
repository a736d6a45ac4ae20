"""`FrozenContainer`: CONTaiNER's Gaussian heads over an encoder that stays as it is."""

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.encoders.opened import AnyEncoder
from handful.errors import EncoderError

from ._base import Baseline, FittedBaseline, LabelledSupport, tag_log_scores
from ._container import distance_for
from ._gaussians import distances
from ._heads import finetune
from ._nearest import tempered
from ._source import Source

__all__ = ["FrozenContainer"]


class FrozenContainer(Baseline):
    """CONTaiNER (Das et al. 2022) with only its Gaussian heads trained.

    The heads are trained on the source by the contrastive loss of `handful.baselines._gaussians`, once for all
    supports, and then on the support until the loss no longer falls. A word gets the tag of the nearest labelled word.
    The paper compares words as the encoder gives them, before the heads; here that would be NNShot, for the encoder
    has not changed, so the heads' Gaussians are compared, by the distance that they were trained on the support with.

    Parameters
    ----------
    encoder : str, path or object
        As for `handful.Tagger`.
    source : Source
        What to train on first; its encoder must give the same features.
    viterbi : bool
        Whether to find the best path of tags, as `StructShot` does, with transitions counted on the source.
    temperature : float
        As for `StructShot`.
    distance : {"auto", "kl", "euclidean"}
        Of two words while training on the support: the mean of both Kullback-Leibler divergences, or the squared
        distance of means. "auto" is "euclidean" where some type has one mention only, as in the paper: variances
        cannot be told from single words.

    Attributes
    ----------
    types_ : list of str
        The types, sorted.
    """

    def __init__(
        self,
        encoder: AnyEncoder = "handful-en",
        *,
        source: Source,
        viterbi: bool = False,
        temperature: float = 0.01,
        distance: str = "auto",
    ) -> None:
        super().__init__(encoder)
        self.source = source
        self.viterbi = viterbi
        self.temperature = temperature
        self.distance = distance

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        distance = distance_for(self.distance, support)
        transitions = tempered(self.source.transitions, self.temperature, support.n_tags) if self.viterbi else None
        encoder = self._open()
        if encoder.fingerprint != self.source.opened.fingerprint:
            raise EncoderError(
                f"the source is encoded with another encoder (fingerprint {self.source.opened.fingerprint[:16]}) than "
                f"this method's (fingerprint {encoder.fingerprint[:16]}); give both the same"
            )
        words = support.words(encoder, progress)
        heads = finetune(self.source.heads, words.features, words.tags, distance)
        mu, s = heads.gaussians(words.features)
        by_tag = [(mu[words.tags == tag], s[words.tags == tag]) for tag in range(support.n_tags)]

        def log_scores(features: Float) -> NDArray[np.float64]:
            found = heads.gaussians(features)
            nearest = [distances(found, known, distance).min(axis=1) for known in by_tag]
            return tag_log_scores(np.stack(nearest, axis=1))

        return FittedBaseline(encoder, support.types, log_scores, transitions)
