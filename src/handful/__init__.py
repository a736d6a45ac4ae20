"""Find named entities from a handful of labelled examples and unlabelled text."""

from handful.text import Sentence, Span

__version__ = "0.1.0"

__all__ = ["Sentence", "Span", "__version__"]
