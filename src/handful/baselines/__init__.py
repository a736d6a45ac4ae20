"""Other methods for the same task, behind the tagger's `fit` and `predict`, on the same features."""

from ._base import Baseline
from ._methods import BASELINES, make_baseline
from ._nearest import NNShot, Proto, StructShot
from ._regression import RegressionBaseline

__all__ = ["BASELINES", "Baseline", "NNShot", "Proto", "RegressionBaseline", "StructShot", "make_baseline"]
