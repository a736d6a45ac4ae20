"""The algorithm: constrained k-means with joint subspace selection, on arrays."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._distances import project, squared_distances, tag_distances, tag_scores
    from ._estimator import Round, SubspaceKMeans
    from .labels import Labels

__all__ = ["Labels", "Round", "SubspaceKMeans", "project", "squared_distances", "tag_distances", "tag_scores"]

_HOME = {"Labels": "labels", "Round": "_estimator", "SubspaceKMeans": "_estimator"}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: prediction needs distances, but not scikit-learn."""
    if name in __all__:
        return getattr(import_module(f".{_HOME.get(name, '_distances')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Offer what is public."""
    return sorted(__all__)
