"""CONTaiNER: `Container` trains the encoder itself, `FrozenContainer` its Gaussian heads alone."""

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.encoders.opened import AnyEncoder, is_object
from handful.errors import DataError, EncoderError
from handful.text import Transitions

from ._base import Baseline, FittedBaseline, LabelledSupport, tag_log_scores
from ._gaussians import Distance, distances, finetune
from ._nearest import by_nearest, tempered
from ._source import Source


class Container(Baseline):
    """CONTaiNER (Das et al. 2022): an encoder trained to bring words of one tag together.

    Encoder and Gaussian heads are trained on the source by the contrastive loss of `handful.baselines._gaussians`, once
    for all supports; a copy is then trained on the support until the loss no longer falls. The heads are left out of
    predictions: a word gets the tag of the nearest labelled word, by the squared Euclidean distance of what the
    trained encoder gives. Needs the extra ``transformers``.

    Parameters
    ----------
    encoder : str or path
        A folder in the Hugging Face layout, or a name on its hub.
    source : Source
        What to train on first; its encoder must be the same.
    viterbi : bool
        Whether to find the best path of tags, as `StructShot` does, with transitions counted on the source.
    temperature : float
        As for `StructShot`.
    distance : {"auto", "kl", "euclidean"}
        Of two words while training on the support: the mean of both Kullback-Leibler divergences, or the squared
        distance of means. "auto" is "euclidean" where some type has one mention only, as in the paper: variances
        cannot be told from single words.
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
        transitions = self._transitions(support)
        support.tags()  # what is wrong with labels is said before the long wait
        own, other = (str(one) if not is_object(one) else one for one in (self.encoder, self.source.encoder))
        if own != other:
            raise EncoderError(
                f"the source is for another encoder ({other}) than this method ({own}); give both the same"
            )
        trained = self.source.network
        from ._network import tune

        encoder = tune(trained, support, distance)
        return by_nearest(encoder, support, support.words(encoder, progress), transitions)

    def _transitions(self, support: LabelledSupport) -> Transitions | None:
        return tempered(self.source.transitions, self.temperature, support.n_tags) if self.viterbi else None


class FrozenContainer(Container):
    """CONTaiNER (Das et al. 2022) with only its Gaussian heads trained.

    The heads are trained on the source by the contrastive loss of `handful.baselines._gaussians`, once for all
    supports, and then on the support until the loss no longer falls. A word gets the tag of the nearest labelled word.
    The paper compares words as the encoder gives them, before the heads; here that would be NNShot, for the encoder
    has not changed, so the heads' Gaussians are compared, by the distance that they were trained on the support with.

    Parameters
    ----------
    encoder : str, path or object
        As for `handful.Tagger`; the encoder of the source must give the same features.
    source, viterbi, temperature, distance
        As for `Container`.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        distance = distance_for(self.distance, support)
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

        return FittedBaseline(encoder, support.types, log_scores, self._transitions(support))


def distance_for(asked: str, support: LabelledSupport) -> Distance:
    """Return the distance to train with on a support."""
    if asked not in ("auto", "kl", "euclidean"):
        raise DataError(f"distance is auto, kl or euclidean; found {asked!r}")
    return "euclidean" if asked == "euclidean" or (asked == "auto" and support.shots <= 1) else "kl"
