"""The algorithm: constrained k-means with joint subspace selection, on arrays."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._estimator import Round, SubspaceKMeans

__all__ = ["Round", "SubspaceKMeans"]


def __getattr__(name: str) -> Any:
    """Import the estimator, and scikit-learn with it, only when it is asked for: prediction does without."""
    if name in __all__:
        from . import _estimator as estimator

        return getattr(estimator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
