"""The tagger: an encoder that stays as it is, the algorithm on its features, and decoding."""

from handful.evaluate._evaluation import Evaluation, Mistake

from ._explanation import Explanation, NearPrototype, NearWord
from ._summary import FitSummary
from ._tagger import Tagger

__all__ = ["Evaluation", "Explanation", "FitSummary", "Mistake", "NearPrototype", "NearWord", "Tagger"]
