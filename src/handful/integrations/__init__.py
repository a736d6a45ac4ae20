"""handful in other people's tools: spaCy's pipelines, the Hugging Face Hub, and answers as transformers gives them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._hub import from_hub, push_to_hub
    from ._pipeline import TokenClassification, pipeline
    from ._spacy import SpacyTagger

__all__ = ["SpacyTagger", "TokenClassification", "from_hub", "pipeline", "push_to_hub"]

_HOME = {"SpacyTagger": "_spacy", "from_hub": "_hub", "push_to_hub": "_hub"}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is, so that no tool is loaded, or needed, for the sake of another."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_HOME.get(name, '_pipeline')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
