"""Our default with a tuned encoder, as a method to compare."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from handful.encoders.opened import AnyEncoder
from handful.tagger import Tagger
from handful.text import EntityType, Sentence
from handful.training import TuneRecipe, Tuning, tune
from handful.training.tuning import FEWEST

__all__ = ["TunedTagger"]


class TunedTagger:
    """A tagger that is fitted, and then tuned; with too few labelled sentences for that, it is only fitted.

    Parameters
    ----------
    encoder : the name or path of the encoder
    o_ratio : as for `handful.Tagger`
    has_text : not used: the text that `fit` is given counts
    types : those to find
    recipe : how to tune; None, as by default

    Attributes
    ----------
    tuning : the figures of tuning; None if the tagger was only fitted
    """

    def __init__(
        self,
        encoder: AnyEncoder,
        o_ratio: float | str | None,
        has_text: bool,
        types: Sequence[EntityType],
        recipe: TuneRecipe | None = None,
    ) -> None:
        self._tagger, self._recipe = Tagger(encoder, types=types, o_ratio=o_ratio), recipe
        self.tuning: Tuning | None = None

    def fit(self, support: Any, unlabelled: Any = None) -> "TunedTagger":
        """Learn from labelled sentences and unlabelled text."""
        fitted = self._tagger.fit(support, unlabelled, progress=False)
        if fitted.summary_.n_support >= FEWEST:
            with TemporaryDirectory() as folder:  # what is in it is loaded
                self.tuning = tune(fitted, out=Path(folder) / "tuned", recipe=self._recipe, progress=False)
                self._tagger = self.tuning.tagger
        return self

    def predict_sentences(self, sentences: Iterable[Any]) -> list[Sentence]:
        """Return the sentences with the mentions found in them."""
        return self._tagger.predict_sentences(sentences)
