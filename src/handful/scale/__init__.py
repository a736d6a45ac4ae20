"""Beyond one machine: encode text, and find mentions in it, on the workers of Dask (extra `dask`).

`fit` takes what `encode_texts` returns, a `dask.bag`, or a column of a `dask.dataframe` as its unlabelled text.
docs/scale.md says more.
"""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._features import Features, encode_texts, open_features
    from ._fit import fit
    from ._predict import Totals, predict_frame, predict_texts
    from ._workers import workers

__all__ = ["Features", "Totals", "encode_texts", "fit", "open_features", "predict_frame", "predict_texts", "workers"]

__getattr__, __dir__ = lazy(
    __name__,
    _features="Features encode_texts open_features",
    _fit="fit",
    _predict="Totals predict_frame predict_texts",
    _workers="workers",
)
