"""Other methods for the same task, behind the tagger's `fit` and `predict`, on the same features."""

from .container import Container
from .frozen import FrozenContainer
from .methods import METHODS, build
from .nearest import NNShot, Proto, StructShot
from .regression import Regression
from .source import Source

__all__ = ["METHODS", "Container", "FrozenContainer", "NNShot", "Proto", "Regression", "Source", "StructShot", "build"]
