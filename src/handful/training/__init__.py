"""Source-domain training (extra ``transformers``)."""

from ._progress import Progress
from ._recipe import Recipe
from ._run import CARD, pretrain

__all__ = ["CARD", "Progress", "Recipe", "pretrain"]
