"""Training of encoders: on corpora (`pretrain`), and on the labels of a tagger (`tune`); extra ``transformers``."""

from importlib import import_module
from typing import TYPE_CHECKING

from ._recipe import Recipe, TuneRecipe

if TYPE_CHECKING:
    from ._run import CARD, pretrain
    from .state import TrainingState
    from .tuning import Tuning, tune

__all__ = ["CARD", "Recipe", "TrainingState", "TuneRecipe", "Tuning", "pretrain", "tune"]

_MODULES = {"CARD": "_run", "TrainingState": "state", "Tuning": "tuning", "pretrain": "_run", "tune": "tuning"}


def __getattr__(name: str) -> object:
    """Import the rest when it is asked for: the command line makes its options from the recipes alone."""
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
