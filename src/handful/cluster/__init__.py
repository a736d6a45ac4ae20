"""The algorithm: constrained k-means with joint subspace selection, on arrays."""
