"""`Container`: CONTaiNER, which trains the encoder itself."""

from typing import TYPE_CHECKING

from handful._util.progress import Progress
from handful.encoders.opened import AnyEncoder, is_object
from handful.errors import DataError, EncoderError

from ._base import Baseline, FittedBaseline, LabelledSupport
from ._nearest import by_nearest, tempered
from ._source import Source

if TYPE_CHECKING:
    from ._network import Distance


class Container(Baseline):
    """CONTaiNER (Das et al. 2022): an encoder trained to bring words of one tag together.

    Encoder and Gaussian heads are trained on the source by the contrastive loss of `handful.baselines._network`, once
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
        transitions = tempered(self.source.transitions, self.temperature, support.n_tags) if self.viterbi else None
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


def distance_for(asked: str, support: LabelledSupport) -> "Distance":
    """Return the distance to train with on a support."""
    if asked not in ("auto", "kl", "euclidean"):
        raise DataError(f"distance is auto, kl or euclidean; found {asked!r}")
    return "euclidean" if asked == "euclidean" or (asked == "auto" and support.shots <= 1) else "kl"
