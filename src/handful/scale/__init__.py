"""Beyond one machine: encode text, and find mentions in it, on the workers of Dask (extra `dask`).

`handful.Tagger.fit` takes what `encode_texts` returns, a `dask.bag`, or a column of a `dask.dataframe` as its
unlabelled text. docs/scale.md says more.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._features import Features, encode_texts, open_features
    from ._predict import Totals, predict_frame, predict_texts
    from ._workers import workers

__all__ = ["Features", "Totals", "encode_texts", "open_features", "predict_frame", "predict_texts", "workers"]

_HOME = {"Totals": "_predict", "predict_frame": "_predict", "predict_texts": "_predict", "workers": "_workers"}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is."""
    if name in __all__:
        return getattr(import_module(f".{_HOME.get(name, '_features')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
