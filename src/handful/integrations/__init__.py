"""handful in other people's tools: spaCy's pipelines, the Hugging Face Hub, and answers as transformers gives them."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._hub import from_hub, push_to_hub
    from ._pipeline import TokenClassification, pipeline
    from ._spacy import SpacyTagger

__all__ = ["SpacyTagger", "TokenClassification", "from_hub", "pipeline", "push_to_hub"]

__getattr__, __dir__ = lazy(
    __name__, _spacy="SpacyTagger", _pipeline="TokenClassification pipeline", _hub="from_hub push_to_hub"
)
