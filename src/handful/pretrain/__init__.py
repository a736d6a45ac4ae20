"""Source-domain training (extra ``transformers``)."""

from .progress import Progress
from .recipe import Recipe
from .run import CARD, pretrain

__all__ = ["CARD", "Progress", "Recipe", "pretrain"]
