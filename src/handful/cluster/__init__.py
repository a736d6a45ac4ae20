"""The algorithm: constrained k-means with joint subspace selection, on arrays."""

from .estimator import Round, SubspaceKMeans

__all__ = ["Round", "SubspaceKMeans"]
