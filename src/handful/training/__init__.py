"""Source-domain training (extra ``transformers``)."""

from typing import TYPE_CHECKING

from ._recipe import Recipe
from ._tune_recipe import TuneRecipe

if TYPE_CHECKING:
    from ._run import CARD, pretrain
    from .state import TrainingState

__all__ = ["CARD", "Recipe", "TrainingState", "TuneRecipe", "pretrain"]


def __getattr__(name: str) -> object:
    """Import the rest when it is asked for: the command line makes its options from `Recipe` alone."""
    if name in __all__:
        from . import _run, state

        return getattr(state if name == "TrainingState" else _run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
