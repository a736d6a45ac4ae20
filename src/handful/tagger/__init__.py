"""The tagger: an encoder that stays as it is, the algorithm on its features, and decoding."""

from .evaluation import Evaluation, Mistake
from .explanation import Explanation, NearPrototype, NearWord
from .summary import FitSummary
from .tagger import Tagger

__all__ = ["Evaluation", "Explanation", "FitSummary", "Mistake", "NearPrototype", "NearWord", "Tagger"]
