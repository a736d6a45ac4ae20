"""Source-domain training (extra ``transformers``)."""

from ._recipe import Recipe
from ._run import CARD, pretrain
from ._state import TrainingState

__all__ = ["CARD", "Recipe", "TrainingState", "pretrain"]
