"""Other methods for the same task, behind the tagger's `fit` and `predict`, on the same features."""

from ._base import Baseline
from ._container import Container
from ._methods import BASELINES, make_baseline
from ._nearest import NNShot, Proto, StructShot
from ._regression import RegressionBaseline
from ._source import Source

__all__ = [
    "BASELINES",
    "Baseline",
    "Container",
    "NNShot",
    "Proto",
    "RegressionBaseline",
    "Source",
    "StructShot",
    "make_baseline",
]
