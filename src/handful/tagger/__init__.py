"""The tagger: an encoder that stays as it is, the algorithm on its features, and decoding."""

from .summary import FitSummary
from .tagger import Tagger

__all__ = ["FitSummary", "Tagger"]
