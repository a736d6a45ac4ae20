"""Beyond one machine: encode text, and find mentions in it, on the workers of Dask (extra `dask`).

`fit` and `predict_texts` take what `encode_texts` returns. docs/scale.md says more.
"""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._features import Features, encode_texts, open_features
    from ._fit import fit
    from ._predict import Totals, predict_texts
    from ._workers import workers

__all__ = ["Features", "Totals", "encode_texts", "fit", "open_features", "predict_texts", "workers"]

__getattr__, __dir__ = lazy(
    __name__,
    _features="Features encode_texts open_features",
    _fit="fit",
    _predict="Totals predict_texts",
    _workers="workers",
)
