"""The tagger: an encoder that stays as it is, evidence learned on its features, and decoding."""

from handful.evaluate import Evaluation, Mistake

from ._per_call import predict
from ._summary import FitSummary
from ._tagger import Tagger
from .explaining import Explanation, NearPrototype, NearWord, WordEvidence
from .predictor import Predictor
from .why_not import WhyNot

__all__ = [
    "Evaluation", "Explanation", "FitSummary", "Mistake", "NearPrototype", "NearWord", "Predictor", "Tagger", "WhyNot",
    "WordEvidence", "predict",
]  # fmt: skip
