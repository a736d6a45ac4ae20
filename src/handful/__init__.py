"""Find named entities from a handful of labelled examples and unlabelled text."""

__version__ = "0.1.0"

__all__ = ["__version__"]
