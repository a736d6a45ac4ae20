"""handful in other people's tools: spaCy's pipelines and the Hugging Face Hub."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._hub import from_hub, push_to_hub
    from ._spacy import SpacyTagger

__all__ = ["SpacyTagger", "from_hub", "push_to_hub"]

__getattr__, __dir__ = lazy(__name__, _spacy="SpacyTagger", _hub="from_hub push_to_hub")
