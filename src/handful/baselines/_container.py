"""`Container`: CONTaiNER, which trains the encoder itself."""

import os

from handful._util.progress import Progress
from handful.encoders.opened import AnyEncoder, is_object
from handful.errors import DataError, EncoderError

from ._base import Baseline, FittedBaseline, LabelledSupport, tag_log_scores
from ._gaussians import Distance
from ._nearest import nearest_by_tag, tempered
from ._source import Source

__all__ = ["Container", "distance_for"]


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

    Attributes
    ----------
    types_ : list of str
        The types, sorted.
    """

    def __init__(
        self,
        encoder: AnyEncoder,
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
        support.tags()  # what is wrong with labels is said before the long wait
        if not _are_one(self.encoder, self.source.encoder):
            raise EncoderError(
                f"the source is for another encoder ({_name(self.source.encoder)}) than this method "
                f"({_name(self.encoder)}); give both the same"
            )
        trained = self.source.network
        from ._network import tune

        encoder = tune(trained, support, distance)
        words = support.words(encoder, progress)
        return FittedBaseline(
            encoder, support.types, lambda x: tag_log_scores(nearest_by_tag(x, words, support.n_tags)), transitions
        )


def distance_for(asked: str, support: LabelledSupport) -> Distance:
    """Return the distance to train with on a support."""
    if asked == "auto":
        return "euclidean" if support.shots <= 1 else "kl"
    if asked == "kl" or asked == "euclidean":
        return "kl" if asked == "kl" else "euclidean"
    raise DataError(f"distance is auto, kl or euclidean; found {asked!r}")


def _are_one(one: AnyEncoder, other: AnyEncoder) -> bool:
    if isinstance(one, str | os.PathLike) and isinstance(other, str | os.PathLike):
        return os.fspath(one) == os.fspath(other)
    return one is other


def _name(encoder: AnyEncoder) -> str:
    return type(encoder).__name__ if is_object(encoder) else str(encoder)
