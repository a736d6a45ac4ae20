"""The algorithm: constrained k-means with joint subspace selection, on arrays."""

from typing import TYPE_CHECKING

from handful._util.lazy import lazy

if TYPE_CHECKING:
    from ._distances import project, squared_distances, tag_distances, tag_scores
    from ._estimator import Round, SubspaceKMeans
    from .labels import Labels

__all__ = ["Labels", "Round", "SubspaceKMeans", "project", "squared_distances", "tag_distances", "tag_scores"]

__getattr__, __dir__ = lazy(
    __name__,
    labels="Labels",
    _estimator="Round SubspaceKMeans",
    _distances="project squared_distances tag_distances tag_scores",
)
