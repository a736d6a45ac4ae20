"""Other methods for the same task, behind the tagger's `fit` and `predict`, on the same features."""

from handful.encoders.opened import AnyEncoder
from handful.errors import DataError

from ._base import Baseline
from ._simple import NNShot, Proto, RegressionBaseline, StructShot

__all__ = ["BASELINES", "Baseline", "NNShot", "Proto", "RegressionBaseline", "StructShot", "make_baseline"]

#: The class of each method.
BASELINES: dict[str, type[Baseline]] = {
    "proto": Proto,
    "nnshot": NNShot,
    "structshot": StructShot,
    "regression": RegressionBaseline,
}


def make_baseline(name: str, encoder: AnyEncoder) -> Baseline:
    """Make a method by its name, one of `BASELINES`, with an encoder as for `handful.Tagger`."""
    if name not in BASELINES:
        raise DataError(f"there is no method {name!r}; methods are {', '.join(BASELINES)}")
    return BASELINES[name](encoder)
