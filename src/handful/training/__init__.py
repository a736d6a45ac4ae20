"""Training of encoders: on corpora (`pretrain`), and on the labels of a tagger (`tune`); extra ``transformers``."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

from ._recipe import Recipe, TuneRecipe

if TYPE_CHECKING:
    from ._run import pretrain
    from .state import TrainingState
    from .tuning import Tuning, tune

__all__ = ["Recipe", "TrainingState", "TuneRecipe", "Tuning", "pretrain", "tune"]

__getattr__, __dir__ = lazy(__name__, _run="pretrain", state="TrainingState", tuning="Tuning tune")
