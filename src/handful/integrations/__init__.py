"""handful in other people's tools: spaCy's pipelines and the Hugging Face Hub."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._hub import from_hub, push_to_hub
    from ._spacy import SpacyTagger

__all__ = ["SpacyTagger", "from_hub", "push_to_hub"]

_NEEDS = {"_spacy": ("the component for spaCy", "spacy")}
__getattr__, __dir__ = lazy(__name__, _NEEDS, _spacy="SpacyTagger", _hub="from_hub push_to_hub")
