"""How good predictions are: scores, sampled supports, and the evaluation of a tagger."""

from ._evaluation import Evaluation, Mistake, Setting, evaluate
from ._sampling import sample_support
from ._scores import Score, Scores, score

__all__ = ["Evaluation", "Mistake", "Score", "Scores", "Setting", "evaluate", "sample_support", "score"]
